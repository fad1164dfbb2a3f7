import { SANDBOX_CREDENTIALS, type Config } from '../config';
import { Credentials } from '../datasources/payment-service/credentials';

/** Opens the credentials for the payment service. Throws if SERVICE_CREDENTIALS_FILE is unreadable or invalid. */
export function openCredentials({ apiKey, secretKey, credentialsFile }: Config['service']): Credentials {
  // If the keys are not set, the config contains the default keys of the sandbox instead.
  const areKeysSet = apiKey !== SANDBOX_CREDENTIALS.apiKey;
  const settings = areKeysSet ? { apiKey, secretKeys: [secretKey] } : undefined;
  return new Credentials({ file: credentialsFile, settings });
}
