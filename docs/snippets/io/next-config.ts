// next.config.ts of Next: the package has native parts, so Next shall not bundle it.
export default { serverExternalPackages: ['serving'] }
