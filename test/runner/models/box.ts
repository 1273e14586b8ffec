import { type NDArray, registerSerializer } from 'serving'

/** A class of the user's, for the service and the model. */
export class Box {
  constructor(
    readonly label: string,
    readonly corners: Float32Array,
    readonly inside: NDArray,
  ) {}
}

registerSerializer<Box>({
  name: 'Box',
  type: Box,
  toFields: ({ label, corners, inside }) => ({ label, corners, inside }),
  fromFields: ({ label, corners, inside }) =>
    new Box(label as string, corners as Float32Array, inside as NDArray),
})
