/** The sender for an address, by its scheme. @module */
import { grpcSender } from './grpc-sender.ts'
import { httpSender } from './http-sender.ts'
import { liveSender } from './live-sender.ts'
import type { Sender, SenderFlags } from './sender.ts'

const senders: Readonly<Record<string, (url: URL, flags: SenderFlags) => Sender>> = {
  'http:': httpSender,
  'https:': httpSender,
  'grpc:': grpcSender,
  'grpcs:': grpcSender,
  'ws:': liveSender,
  'wss:': liveSender,
}

/** The schemes of addresses. */
export const schemes = Object.keys(senders)

/** @returns a sender for an address with one of {@link schemes}. */
export const openSender = (url: URL, flags: SenderFlags): Sender =>
  senders[url.protocol](url, flags)
