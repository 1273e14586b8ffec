/** Full names of the service: our own, and the one that clients of the reference system call. */
export const rpcServices = ['serving.v1.ServingService', 'bentoml.grpc.v1.BentoService'] as const
