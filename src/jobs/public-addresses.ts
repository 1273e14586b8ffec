import { type LookupAddress, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/**
 * Within 2000::/3, those that stand for IPv4 addresses and for documents.
 *
 * @see IANA IPv4 and IPv6 Special-Purpose Address Registries; 168.63.129.16 is Azure's own.
 */
const refused = blockList(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24',
  '192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
  '2001::/23 2001:db8::/32 2002::/16 3fff::/20',
)
const global6 = blockList('2000::/3')

function blockList(...lines: readonly string[]): BlockList {
  const list = new BlockList()
  for (const [, net, prefix] of lines.join(' ').matchAll(/(\S+)\/(\d+)/g))
    list.addSubnet(net, Number(prefix), familyOf(net))
  return list
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

/** Whether an address belongs to the internet: not to this machine, its network, or its cloud. */
export function isPublicAddress(address: string): boolean {
  const family = familyOf(address)
  return (family === 'ipv4' || global6.check(address, family)) && !refused.check(address, family)
}

/** The address that a connection would go to is refused. */
export class AddressRefused extends Error {}

/** Whether the host of a URL is an address, and a refused one: sockets look up names alone. */
export function isRefusedHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(host) !== 0 && !isPublicAddress(host)
}

/** `lookup` for sockets: fails if a name has an address that is refused, when the connection is made. */
export const lookupPublic: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return done(error, '')
    const bad = addresses.find(({ address }) => !isPublicAddress(address))
    if (bad !== undefined)
      return done(new AddressRefused(`${hostname} is at ${bad.address}, which is not public`), '')
    if (options.all) done(null, addresses)
    else done(null, addresses[0].address, addresses[0].family)
  })
}
