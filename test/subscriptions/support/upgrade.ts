const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** Returns the lines of a browser's upgrade request with changed headers; undefined removes a header. */
export const upgradeLines = (
  url: string,
  { path = '/graphql', ...changed }: Record<string, string | undefined> = {},
): string[] => {
  const headers: Record<string, string | undefined> = {
    Host: new URL(url).host,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': KEY,
    'Sec-WebSocket-Protocol': 'graphql-transport-ws',
    ...changed,
  };
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  return [`GET ${path} HTTP/1.1`, ...given.map(([name, value]) => `${name}: ${value}`)];
};
