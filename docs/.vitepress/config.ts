import { defineConfig } from 'vitepress'
import { writeMarkdown } from './llms.ts'
import { isSearched } from './search.ts'

const pages = (base: string, items: Record<string, string>) =>
  Object.entries(items).map(([path, text]) => ({ text, link: `/${base}/${path}` }))

const description = 'Serves models and functions over HTTP and gRPC, in TypeScript'

const sidebar = [
  {
    text: 'Start',
    items: pages('guide', {
      'getting-started': 'Getting started',
      'how-it-works': 'How it works',
      service: 'A service',
      testing: 'Testing',
      comparison: 'Comparison',
      troubleshooting: 'Troubleshooting',
    }),
  },
  {
    text: 'Descriptors',
    items: pages('guide/descriptors', {
      '': 'Which one to choose',
      array: 'Arrays',
      frame: 'Frames and series',
      json: 'JSON',
      text: 'Text',
      image: 'Pictures',
      file: 'Files',
      form: 'Forms',
      custom: 'Your own',
    }),
  },
  {
    text: 'Models',
    items: pages('guide', {
      runners: 'Runners: models in threads',
      batching: 'Batching',
      onnx: 'ONNX, CPU and GPU',
      pool: 'Many models',
      'types-from-weights': 'Types from an ONNX file',
      python: 'Models in Python',
    }),
  },
  {
    text: 'Recipes',
    items: pages('recipes', {
      'picture-onnx': 'A picture, an ONNX file, a label',
      pytorch: 'PyTorch and scikit-learn',
      'hugging-face': 'Models of Hugging Face',
      llama: 'Language models by llama.cpp',
    }),
  },
  {
    text: 'Requests',
    items: pages('guide', {
      streams: 'Streams and events',
      live: 'Live streams',
      jobs: 'Jobs',
      hooks: 'Hooks',
      auth: 'Auth, keys, rate limits, CORS',
      mount: 'Mounting other handlers',
      frameworks: 'In another framework',
      openai: "OpenAI's clients",
      responses: 'Responses',
      mcp: 'Tools for agents',
      capture: 'Capture',
      replay: 'Replay',
      split: 'Canary and shadow',
      clients: 'Clients',
    }),
  },
  {
    text: 'Protocols',
    items: pages('protocols', {
      'grpc-connect': 'gRPC and Connect',
      'open-inference': 'Open Inference Protocol',
      openapi: 'OpenAPI',
      own: 'A protocol of your own',
    }),
  },
  {
    text: 'Deploy',
    items: pages('deploy', {
      production: 'Production',
      build: 'Builds',
      containers: 'Containers',
      serverless: 'Lambda and Cloud Run',
      kubernetes: 'Kubernetes and KServe',
      jobs: 'Jobs in production',
      'jobs-backup': 'Backup of jobs',
      'jobs-promises': 'What jobs promise',
      load: 'Load tests',
      'load-balancer': 'Load balancers',
      metrics: 'Metrics',
      logs: 'Logs',
      traces: 'Traces',
      engine: 'Engine, Node and add-ons',
    }),
  },
  {
    text: 'Reference',
    items: [
      ...pages('reference', {
        options: 'Options',
        errors: 'Errors',
        metrics: 'Metrics',
        cli: 'Command line',
        conformance: 'Conformance',
      }),
    ],
  },
  {
    // TypeDoc writes these pages.
    text: 'API',
    collapsed: true,
    items: pages('api', {
      'serving/': 'serving',
      'serving/namespaces/io/': 'io',
      'serving/auth/': 'serving/auth',
      'serving/client/': 'serving/client',
      'serving/config/': 'serving/config',
      'serving/onnx/': 'serving/onnx',
      'serving/openai/': 'serving/openai',
      'serving/pool/': 'serving/pool',
      'serving/split/': 'serving/split',
      'serving/testing/': 'serving/testing',
    }),
  },
  {
    text: 'Migrate',
    items: pages('migrate', {
      'from-bentoml': 'From BentoML',
      'from-fastapi': 'From FastAPI and LitServe',
      'from-triton': 'From Triton',
    }),
  },
  {
    text: 'More',
    items: [
      { text: 'Examples', link: '/examples/' },
      { text: 'Performance', link: '/performance' },
      { text: 'Internals', link: '/internals/' },
      { text: 'Decisions', link: '/adr/' },
    ],
  },
]

export default defineConfig({
  title: 'serving',
  description,
  lastUpdated: false,
  srcExclude: ['snippets/**'],
  markdown: { languageAlias: { haproxy: 'ini' } },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        _render: (text, env, md) => (isSearched(env.relativePath) ? md.render(text, env) : ''),
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/guide/getting-started' },
      { text: 'Deploy', link: '/deploy/production' },
      { text: 'Reference', link: '/reference/options' },
      { text: 'Examples', link: '/examples/' },
    ],
    sidebar,
  },
  buildEnd: (site) => writeMarkdown(site, description, sidebar),
})
