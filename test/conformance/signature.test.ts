import { signature } from './service';

// Each made with: printf '%s' "$timestamp$data" | openssl dgst -sha256 -hmac "$secretKey"
test.each([
  {
    title: 'a query string with %20',
    secretKey: 'correct-horse-battery',
    timestamp: '1700000000',
    data: 'channel=0b8f9f3e-7d0a-4c1c-9b52-3f6a1f0f2a11&external_id=order%205',
    expected: '30133a37b245b8d4d3172c57351c7cf2b8d1c059a94db5a53bc568dc82e7e0e7',
  },
  {
    title: 'a body in raw UTF-8',
    secretKey: 's3cr3t',
    timestamp: '1717146765',
    data: '{"external_id":"заказ №5 🧾","amount":{"value":"25.00"}}',
    expected: '0c4eecdc380665a30358a7c54c9a9c164fad38ccf0a8dad2ee49b6ee0d7ebfaa',
  },
  {
    title: 'no data, under a key that is not ASCII',
    secretKey: 'ключ',
    timestamp: '1717146765',
    data: '',
    expected: '8d330c467021cae87189ab0c964adef170cac41a9d29c63afc57d429add6f9ce',
  },
])(
  'The signature of the conformance tests equals that of openssl for $title',
  ({ expected, title: _, ...input }) => {
    expect(signature(input)).toBe(expected);
  },
);
