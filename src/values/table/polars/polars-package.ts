/** The package nodejs-polars. The only file that loads it. @module */
// biome-ignore lint/suspicious/noTsIgnore: no error where the package is installed
/** @ts-ignore: the declarations are read where the package is not installed, too; DataFrame is `any` there. */
import type pl from 'nodejs-polars'
import { loadOptional } from '../../../core/modules/optional.ts'

export type { pl }

/** A Polars data frame. */
export type DataFrame = pl.DataFrame

/** A Polars series. */
export type Series = pl.Series

/**
 * Loads nodejs-polars.
 *
 * @throws MissingDependencyException with the install command.
 */
export function loadPolarsPackage(neededBy: string): typeof pl {
  return loadOptional<{ default: typeof pl }>('nodejs-polars', '0.24.1', neededBy).default
}
