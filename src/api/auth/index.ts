/** `serving/auth`: hooks that know callers, and limit them. @module serving/auth */
export { type ApiKey, type ApiKeyOptions, apiKey } from './api-key.ts'
export { type JwtOptions, jwt } from './jwt.ts'
export { type RateLimitOptions, rateLimit } from './rate-limit.ts'
