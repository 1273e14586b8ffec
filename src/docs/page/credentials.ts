import { h } from './dom.ts'
import { type Scheme, schemesOf } from './operation.ts'

/** The inputs for credentials. */
export class Credentials {
  readonly element = h('fieldset.credentials', { hidden: true })
  readonly #inputs = new Map<string, readonly [scheme: Scheme, input: HTMLInputElement]>()

  /** Shows the inputs of these schemes; hides all without any. */
  ask(schemes: readonly Scheme[]): void {
    this.element.hidden = schemes.length === 0
    const labels = schemes.map((scheme) => {
      const [, input] = this.#inputs.get(scheme.label) ?? [
        scheme,
        h('input', { type: 'password', autocomplete: 'off' }),
      ]
      this.#inputs.set(scheme.label, [scheme, input])
      return h('label.member', h('span', scheme.label), input)
    })
    this.element.replaceChildren(h('legend', 'Credentials'), ...labels)
  }

  /** Shows the usual inputs, for an answer 401 where the document names no scheme. */
  askAny(): void {
    if (this.element.hidden) this.ask(schemesOf({}, undefined))
    this.element.querySelector('input')?.focus()
  }

  headers(): Record<string, string> {
    const given = [...this.#inputs.values()].filter(([, { value }]) => value !== '')
    return Object.fromEntries(
      given.map(([{ header, prefix }, { value }]) => [header, prefix + value]),
    )
  }
}
