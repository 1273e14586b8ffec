/**
 * The public surface of serving.
 * @module serving
 */

export type {
  Api,
  ApiFunction,
  ApiMethod,
  ApiOptions,
  ApiTypes,
  ServiceTypes,
} from './api/api.ts'
export type { AsyncOptions, AsyncSettings } from './api/async-options.ts'
export type { CacheOptions, CacheSettings } from './api/cache-options.ts'
export type { OwnerKey, SightKey } from './api/caller-identity.ts'
export type { CaptureOptions, CaptureSettings } from './api/capture-options.ts'
export type { CorsOptions } from './api/cors.ts'
export type { Endpoint, EndpointReceiver } from './api/endpoint.ts'
export type { ApiExample, EncodedExample } from './api/examples.ts'
export type {
  ErrorHook,
  HookOptions,
  Hooks,
  ProtectedResource,
  RequestHook,
  ResponseHook,
  SecurityScheme,
} from './api/hooks.ts'
export type {
  InjectedLive,
  InjectedMessage,
  InjectJson,
  InjectLiveRequest,
  InjectMessage,
  Injector,
  InjectRequest,
  InjectResponse,
} from './api/inject.ts'
export type { LiveApi, LiveFunction, LiveOptions, LiveTypes } from './api/live-api.ts'
export type { LiveRoute, OpenedLive } from './api/live-route.ts'
export type { McpOptions, McpSettings, ToolAnnotations } from './api/mcp-options.ts'
export type { ModelOptions, ModelTensor, RepositoryOptions } from './api/model-options.ts'
export type { FetchHandler, Mount, MountOptions } from './api/mount.ts'
export type { PageEntry } from './api/page-entry.ts'
export type { ParamsArgument, ParamsOf } from './api/path-params.ts'
export type {
  AskOptions,
  BytesAnswer,
  DuplexMethod,
  Group,
  Host,
  LiveMethod,
  Protocol,
  RpcMethod,
  ServedApis,
  StreamMethod,
  UnaryMethod,
} from './api/protocol.ts'
export type { Query, QueryOf, QueryRecord } from './api/query.ts'
export type { BodyMethod, BodyOptions, QueryMethod, QueryOptions } from './api/route-methods.ts'
export type { Sample, Sampler } from './api/sampler.ts'
export type { Schedule, ScheduleOptions } from './api/schedule.ts'
export type { Hook, ServiceStart } from './api/service-life.ts'
export type { Callable, Encoding } from './api/stages.ts'
export type { Access, Entered, Guarded, Origins, RequestTarget, Visit } from './api/visit.ts'
export type { NumberDType } from './core/dtype.ts'
export { openFile } from './core/file/open-file.ts'
export type { HeldMemory, SharedMemory } from './core/memory/held-memory.ts'
export type { Option, OptionsOf, SettingsOf } from './core/option.ts'
export type { ByteSize, Duration } from './core/text/units.ts'
export type { LogLevel } from './engine/log-levels.ts'
export type {
  EngineName,
  GrpcTls,
  JobRole,
  Limits,
  Listener,
  ServeOptions,
} from './engine/options.ts'
export type { EndpointSlots } from './http/limits.ts'
export { type AllHeaders, type HeaderNames, wholeBody } from './http/message.ts'
export type { Outcome, OutcomeDurations, ProtocolName } from './http/outcome.ts'
export * from './io/values.ts'
export type { BlobStore } from './jobs/blob-store.ts'
export type {
  Job,
  JobEvent,
  JobStatus,
  NewJob,
  StoredRequest,
  StoredResponse,
  WebhookTarget,
} from './jobs/job.ts'
export type {
  Added,
  AgainJob,
  Attempt,
  AttemptRows,
  JobFilter,
  JobPage,
  JobStore,
  JobWorker,
  KeptRows,
  Outcome as JobOutcome,
  QueueState,
  WorkQueue,
} from './jobs/job-store.ts'
export type { JobsOptions } from './jobs/jobs-options.ts'
export {
  type Holder,
  type StoredAnswer,
  StoredBody,
  type UnreadRequest,
} from './jobs/stored-body.ts'
export type { WebhookOptions } from './jobs/webhooks.ts'
export type { EncodedMessage } from './messages/encoded-message.ts'
export type {
  DataFrameMessage,
  FileMessage,
  MultipartMessage,
  NDArrayMessage,
  Numbers,
  ProtoContent,
  ProtoField,
  ProtoMessages,
  SeriesMessage,
} from './messages/messages.ts'
export { modelRepository } from './protocols/oip/repository.ts'
export type { ModelCall, ModelPlace } from './runner/model-host.ts'
export type {
  CondaPackages,
  PythonOptions,
  PythonSettings,
} from './runner/python/python-options.ts'
export type {
  RemoteMethods,
  RemoteOptions,
  RemoteTensor,
  RemoteTensors,
} from './runner/remote-options.ts'
export {
  type RemoteRunner,
  Runner,
  type RunnerClass,
  type RunnerLife,
  type StartOptions,
} from './runner/runner.ts'
export type {
  BatchOptions,
  CallerMethod,
  CallOptions,
  InitOf,
  MethodNames,
  MethodOptions,
  ModelOf,
  RunnerOptions,
} from './runner/runner-options.ts'
export { registerSerializer, type SerializedFields, type Serializer } from './runner/serializers.ts'
export { move } from './runner/transfer.ts'
export type { RunnerEvent } from './runner/worker-supervisor.ts'
export { serve } from './server/listener.ts'
export type { ServedService } from './server/served-service.ts'
export { Service } from './service.ts'
export type { DocumentOptions, ServerPaths, ServiceOptions } from './service-options.ts'
export type { MetricFamily, MetricLabels, MetricValue } from './telemetry/metrics/metric-family.ts'
export { traceHeaders } from './telemetry/tracing/active-trace.ts'
export type { EncodeOptions } from './values/image/image-codec.ts'
