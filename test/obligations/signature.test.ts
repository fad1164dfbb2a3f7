import { spawnSync } from 'node:child_process';
import { signature } from './signature';

/**
 * Each made with, and to be made again with:
 *   printf '%s' "$timestamp$data" | openssl dgst -sha256 -hmac "$secretKey"
 */
const VECTORS = [
  {
    says: 'a query string with %20',
    secretKey: 'correct-horse-battery',
    timestamp: '1700000000',
    data: 'channel=0b8f9f3e-7d0a-4c1c-9b52-3f6a1f0f2a11&external_id=order%205',
    expected: '30133a37b245b8d4d3172c57351c7cf2b8d1c059a94db5a53bc568dc82e7e0e7',
  },
  {
    says: 'the same query string with +',
    secretKey: 'correct-horse-battery',
    timestamp: '1700000000',
    data: 'channel=0b8f9f3e-7d0a-4c1c-9b52-3f6a1f0f2a11&external_id=order+5',
    expected: 'f9605542782485b66bc25292bcd36b1bf0c656d53f64f35c1192f6829a8a2d21',
  },
  {
    says: 'a body in raw UTF-8',
    secretKey: 's3cr3t',
    timestamp: '1717146765',
    data: '{"external_id":"заказ №5 🧾","amount":{"value":"25.00"}}',
    expected: '0c4eecdc380665a30358a7c54c9a9c164fad38ccf0a8dad2ee49b6ee0d7ebfaa',
  },
  {
    says: 'a body with spaces and a unicode escape, under a key that is not ASCII',
    secretKey: 'ключ',
    timestamp: '1717146765',
    data: '{ "external_id" : "\\u0437" }',
    expected: '293dfcb4901e94c7d607179ace128c1d3bf74c1256c40d718dea4e2f9c4e6243',
  },
  {
    says: 'no data at all',
    secretKey: 's3cr3t',
    timestamp: '1717146765',
    data: '',
    expected: 'eb437e95ee4f7f75f8d8e1ec2add6db72540d2d1961d4f6bff5f4144dc8ab8bb',
  },
];

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) process.stderr.write('SKIPPED, as there is no openssl here: the vectors made anew\n');

describe('the signature of the obligations', () => {
  test.each(VECTORS)('is that of openssl for $says', ({ expected, says: _, ...input }) => {
    expect(signature(input)).toBe(expected);
  });

  (hasOpenssl ? test : test.skip).each(VECTORS)('is made anew by openssl for $says', (vector) => {
    const { secretKey, timestamp, data, expected } = vector;
    const made = spawnSync('openssl', ['dgst', '-sha256', '-hmac', secretKey], { input: timestamp + data });
    expect(made.stdout.toString().trim().split(' ').at(-1)).toBe(expected);
  });
});
