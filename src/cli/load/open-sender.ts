/** The sender for an address, by its scheme. @module */
import { grpcSender } from './grpc-sender.ts'
import { httpSender } from './http-sender.ts'
import { liveSender } from './live-sender.ts'
import type { Sender } from './sender.ts'

/** Flags of the commands that send. */
export interface SenderFlags {
  readonly header?: Readonly<Record<string, string>>
  readonly connections: number
  /** **Units**: seconds. */
  readonly timeout: number
}

const senders = {
  'http:': httpSender,
  'https:': httpSender,
  'grpc:': grpcSender,
  'grpcs:': grpcSender,
  'ws:': liveSender,
  'wss:': liveSender,
}

/** @returns a sender; undefined for another scheme. */
export function openSender(
  url: URL,
  { header: headers = {}, connections, timeout }: SenderFlags,
): Sender {
  const open = senders[url.protocol as keyof typeof senders]
  return open(url, { headers, connections, timeoutMs: timeout * 1000 })
}

/** The schemes of addresses. */
export const schemes = Object.keys(senders)
