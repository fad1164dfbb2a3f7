// Environment of every peer.
import process from 'node:process';

export const settings = {
  port: Number(process.env.PORT),
  /** URL of the payment service; ends with a slash. */
  serviceUrl: process.env.SERVICE_BASE_URL,
  apiKey: process.env.SERVICE_API_KEY,
  secretKey: process.env.SERVICE_SECRET_KEY,
};
