import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace serving. */
export namespace serving {

    /** Namespace v1. */
    namespace v1 {

        /**
         * Properties of a Request.
         * @deprecated Use serving.v1.Request.$Properties instead.
         */
        interface IRequest extends serving.v1.Request.$Properties {
        }

        /** Represents a Request. */
        class Request {

            /**
             * Constructs a new Request.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.Request.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Request apiName. */
            apiName: string;

            /** Request ndarray. */
            ndarray?: (serving.v1.NDArray.$Properties|null);

            /** Request dataframe. */
            dataframe?: (serving.v1.DataFrame.$Properties|null);

            /** Request series. */
            series?: (serving.v1.Series.$Properties|null);

            /** Request file. */
            file?: (serving.v1.File.$Properties|null);

            /** Request text. */
            text?: (google.protobuf.StringValue.$Properties|null);

            /** Request json. */
            json?: (google.protobuf.Value.$Properties|null);

            /** Request multipart. */
            multipart?: (serving.v1.Multipart.$Properties|null);

            /** Request serializedBytes. */
            serializedBytes?: (Uint8Array|null);

            /** Request content. */
            content?: ("ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"multipart"|"serializedBytes");

            /**
             * Creates a new Request instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Request instance
             */
            static create(properties: serving.v1.Request.$Shape): serving.v1.Request & serving.v1.Request.$Shape;
            static create(properties?: serving.v1.Request.$Properties): serving.v1.Request;

            /**
             * Encodes the specified Request message. Does not implicitly {@link serving.v1.Request.verify|verify} messages.
             * @param message Request message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.Request.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Request message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.Request & serving.v1.Request.$Shape} Request
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.Request & serving.v1.Request.$Shape;
        }

        namespace Request {

            /** Properties of a Request. */
            interface $Properties {

                /** Request apiName */
                apiName?: (string|null);

                /** Request ndarray */
                ndarray?: (serving.v1.NDArray.$Properties|null);

                /** Request dataframe */
                dataframe?: (serving.v1.DataFrame.$Properties|null);

                /** Request series */
                series?: (serving.v1.Series.$Properties|null);

                /** Request file */
                file?: (serving.v1.File.$Properties|null);

                /** Request text */
                text?: (google.protobuf.StringValue.$Properties|null);

                /** Request json */
                json?: (google.protobuf.Value.$Properties|null);

                /** Request multipart */
                multipart?: (serving.v1.Multipart.$Properties|null);

                /** Request serializedBytes */
                serializedBytes?: (Uint8Array|null);

                /** Request content */
                content?: ("ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"multipart"|"serializedBytes");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a Request. */
            type $Shape = {
              apiName?: string|null;
              ndarray?: serving.v1.NDArray.$Shape|null;
              dataframe?: serving.v1.DataFrame.$Shape|null;
              series?: serving.v1.Series.$Shape|null;
              file?: serving.v1.File.$Shape|null;
              text?: google.protobuf.StringValue.$Shape|null;
              json?: google.protobuf.Value.$Shape|null;
              multipart?: serving.v1.Multipart.$Shape|null;
              serializedBytes?: Uint8Array|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ content?: undefined; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "ndarray"; ndarray: serving.v1.NDArray.$Shape; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "dataframe"; ndarray?: null; dataframe: serving.v1.DataFrame.$Shape; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "series"; ndarray?: null; dataframe?: null; series: serving.v1.Series.$Shape; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "file"; ndarray?: null; dataframe?: null; series?: null; file: serving.v1.File.$Shape; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "text"; ndarray?: null; dataframe?: null; series?: null; file?: null; text: google.protobuf.StringValue.$Shape; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "json"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json: google.protobuf.Value.$Shape; multipart?: null; serializedBytes?: null }|{ content?: "multipart"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart: serving.v1.Multipart.$Shape; serializedBytes?: null }|{ content?: "serializedBytes"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes: Uint8Array })
            );
        }

        /**
         * Properties of a Response.
         * @deprecated Use serving.v1.Response.$Properties instead.
         */
        interface IResponse extends serving.v1.Response.$Properties {
        }

        /** Represents a Response. */
        class Response {

            /**
             * Constructs a new Response.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.Response.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Response ndarray. */
            ndarray?: (serving.v1.NDArray.$Properties|null);

            /** Response dataframe. */
            dataframe?: (serving.v1.DataFrame.$Properties|null);

            /** Response series. */
            series?: (serving.v1.Series.$Properties|null);

            /** Response file. */
            file?: (serving.v1.File.$Properties|null);

            /** Response text. */
            text?: (google.protobuf.StringValue.$Properties|null);

            /** Response json. */
            json?: (google.protobuf.Value.$Properties|null);

            /** Response multipart. */
            multipart?: (serving.v1.Multipart.$Properties|null);

            /** Response serializedBytes. */
            serializedBytes?: (Uint8Array|null);

            /** Response content. */
            content?: ("ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"multipart"|"serializedBytes");

            /**
             * Creates a new Response instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Response instance
             */
            static create(properties: serving.v1.Response.$Shape): serving.v1.Response & serving.v1.Response.$Shape;
            static create(properties?: serving.v1.Response.$Properties): serving.v1.Response;

            /**
             * Encodes the specified Response message. Does not implicitly {@link serving.v1.Response.verify|verify} messages.
             * @param message Response message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.Response.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Response message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.Response & serving.v1.Response.$Shape} Response
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.Response & serving.v1.Response.$Shape;
        }

        namespace Response {

            /** Properties of a Response. */
            interface $Properties {

                /** Response ndarray */
                ndarray?: (serving.v1.NDArray.$Properties|null);

                /** Response dataframe */
                dataframe?: (serving.v1.DataFrame.$Properties|null);

                /** Response series */
                series?: (serving.v1.Series.$Properties|null);

                /** Response file */
                file?: (serving.v1.File.$Properties|null);

                /** Response text */
                text?: (google.protobuf.StringValue.$Properties|null);

                /** Response json */
                json?: (google.protobuf.Value.$Properties|null);

                /** Response multipart */
                multipart?: (serving.v1.Multipart.$Properties|null);

                /** Response serializedBytes */
                serializedBytes?: (Uint8Array|null);

                /** Response content */
                content?: ("ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"multipart"|"serializedBytes");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a Response. */
            type $Shape = {
              ndarray?: serving.v1.NDArray.$Shape|null;
              dataframe?: serving.v1.DataFrame.$Shape|null;
              series?: serving.v1.Series.$Shape|null;
              file?: serving.v1.File.$Shape|null;
              text?: google.protobuf.StringValue.$Shape|null;
              json?: google.protobuf.Value.$Shape|null;
              multipart?: serving.v1.Multipart.$Shape|null;
              serializedBytes?: Uint8Array|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ content?: undefined; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "ndarray"; ndarray: serving.v1.NDArray.$Shape; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "dataframe"; ndarray?: null; dataframe: serving.v1.DataFrame.$Shape; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "series"; ndarray?: null; dataframe?: null; series: serving.v1.Series.$Shape; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "file"; ndarray?: null; dataframe?: null; series?: null; file: serving.v1.File.$Shape; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "text"; ndarray?: null; dataframe?: null; series?: null; file?: null; text: google.protobuf.StringValue.$Shape; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "json"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json: google.protobuf.Value.$Shape; multipart?: null; serializedBytes?: null }|{ content?: "multipart"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart: serving.v1.Multipart.$Shape; serializedBytes?: null }|{ content?: "serializedBytes"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes: Uint8Array })
            );
        }

        /**
         * Properties of a Part.
         * @deprecated Use serving.v1.Part.$Properties instead.
         */
        interface IPart extends serving.v1.Part.$Properties {
        }

        /** Represents a Part. */
        class Part {

            /**
             * Constructs a new Part.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.Part.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Part ndarray. */
            ndarray?: (serving.v1.NDArray.$Properties|null);

            /** Part dataframe. */
            dataframe?: (serving.v1.DataFrame.$Properties|null);

            /** Part series. */
            series?: (serving.v1.Series.$Properties|null);

            /** Part file. */
            file?: (serving.v1.File.$Properties|null);

            /** Part text. */
            text?: (google.protobuf.StringValue.$Properties|null);

            /** Part json. */
            json?: (google.protobuf.Value.$Properties|null);

            /** Part serializedBytes. */
            serializedBytes?: (Uint8Array|null);

            /** Part representation. */
            representation?: ("ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"serializedBytes");

            /**
             * Creates a new Part instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Part instance
             */
            static create(properties: serving.v1.Part.$Shape): serving.v1.Part & serving.v1.Part.$Shape;
            static create(properties?: serving.v1.Part.$Properties): serving.v1.Part;

            /**
             * Encodes the specified Part message. Does not implicitly {@link serving.v1.Part.verify|verify} messages.
             * @param message Part message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.Part.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Part message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.Part & serving.v1.Part.$Shape} Part
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.Part & serving.v1.Part.$Shape;
        }

        namespace Part {

            /** Properties of a Part. */
            interface $Properties {

                /** Part ndarray */
                ndarray?: (serving.v1.NDArray.$Properties|null);

                /** Part dataframe */
                dataframe?: (serving.v1.DataFrame.$Properties|null);

                /** Part series */
                series?: (serving.v1.Series.$Properties|null);

                /** Part file */
                file?: (serving.v1.File.$Properties|null);

                /** Part text */
                text?: (google.protobuf.StringValue.$Properties|null);

                /** Part json */
                json?: (google.protobuf.Value.$Properties|null);

                /** Part serializedBytes */
                serializedBytes?: (Uint8Array|null);

                /** Part representation */
                representation?: ("ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"serializedBytes");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a Part. */
            type $Shape = {
              ndarray?: serving.v1.NDArray.$Shape|null;
              dataframe?: serving.v1.DataFrame.$Shape|null;
              series?: serving.v1.Series.$Shape|null;
              file?: serving.v1.File.$Shape|null;
              text?: google.protobuf.StringValue.$Shape|null;
              json?: google.protobuf.Value.$Shape|null;
              serializedBytes?: Uint8Array|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ representation?: undefined; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; serializedBytes?: null }|{ representation?: "ndarray"; ndarray: serving.v1.NDArray.$Shape; dataframe?: null; series?: null; file?: null; text?: null; json?: null; serializedBytes?: null }|{ representation?: "dataframe"; ndarray?: null; dataframe: serving.v1.DataFrame.$Shape; series?: null; file?: null; text?: null; json?: null; serializedBytes?: null }|{ representation?: "series"; ndarray?: null; dataframe?: null; series: serving.v1.Series.$Shape; file?: null; text?: null; json?: null; serializedBytes?: null }|{ representation?: "file"; ndarray?: null; dataframe?: null; series?: null; file: serving.v1.File.$Shape; text?: null; json?: null; serializedBytes?: null }|{ representation?: "text"; ndarray?: null; dataframe?: null; series?: null; file?: null; text: google.protobuf.StringValue.$Shape; json?: null; serializedBytes?: null }|{ representation?: "json"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json: google.protobuf.Value.$Shape; serializedBytes?: null }|{ representation?: "serializedBytes"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; serializedBytes: Uint8Array })
            );
        }

        /**
         * Properties of a Multipart.
         * @deprecated Use serving.v1.Multipart.$Properties instead.
         */
        interface IMultipart extends serving.v1.Multipart.$Properties {
        }

        /** Represents a Multipart. */
        class Multipart {

            /**
             * Constructs a new Multipart.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.Multipart.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Multipart fields. */
            fields: { [k: string]: serving.v1.Part.$Properties };

            /**
             * Creates a new Multipart instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Multipart instance
             */
            static create(properties: serving.v1.Multipart.$Shape): serving.v1.Multipart & serving.v1.Multipart.$Shape;
            static create(properties?: serving.v1.Multipart.$Properties): serving.v1.Multipart;

            /**
             * Encodes the specified Multipart message. Does not implicitly {@link serving.v1.Multipart.verify|verify} messages.
             * @param message Multipart message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.Multipart.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Multipart message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.Multipart & serving.v1.Multipart.$Shape} Multipart
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.Multipart & serving.v1.Multipart.$Shape;
        }

        namespace Multipart {

            /** Properties of a Multipart. */
            interface $Properties {

                /** Multipart fields */
                fields?: ({ [k: string]: serving.v1.Part.$Properties }|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Multipart. */
            type $Shape = {
              fields?: { [k: string]: serving.v1.Part.$Shape }|null;
              $unknowns?: Uint8Array[];
            };
        }

        /**
         * Properties of a File.
         * @deprecated Use serving.v1.File.$Properties instead.
         */
        interface IFile extends serving.v1.File.$Properties {
        }

        /** Represents a File. */
        class File {

            /**
             * Constructs a new File.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.File.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** File kind. */
            kind?: (string|null);

            /** File content. */
            content: Uint8Array;

            /** File name. */
            name?: (string|null);

            /**
             * Creates a new File instance using the specified properties.
             * @param [properties] Properties to set
             * @returns File instance
             */
            static create(properties: serving.v1.File.$Shape): serving.v1.File & serving.v1.File.$Shape;
            static create(properties?: serving.v1.File.$Properties): serving.v1.File;

            /**
             * Encodes the specified File message. Does not implicitly {@link serving.v1.File.verify|verify} messages.
             * @param message File message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.File.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a File message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.File & serving.v1.File.$Shape} File
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.File & serving.v1.File.$Shape;
        }

        namespace File {

            /** Properties of a File. */
            interface $Properties {

                /** File kind */
                kind?: (string|null);

                /** File content */
                content?: (Uint8Array|null);

                /** File name */
                name?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a File. */
            type $Shape = serving.v1.File.$Properties;
        }

        /**
         * Properties of a NDArray.
         * @deprecated Use serving.v1.NDArray.$Properties instead.
         */
        interface INDArray extends serving.v1.NDArray.$Properties {
        }

        /** Represents a NDArray. */
        class NDArray {

            /**
             * Constructs a new NDArray.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.NDArray.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** NDArray dtype. */
            dtype: serving.v1.NDArray.DType;

            /** NDArray shape. */
            shape: number[];

            /** NDArray floatValues. */
            floatValues: number[];

            /** NDArray doubleValues. */
            doubleValues: number[];

            /** NDArray stringValues. */
            stringValues: string[];

            /** NDArray boolValues. */
            boolValues: boolean[];

            /** NDArray int32Values. */
            int32Values: number[];

            /** NDArray int64Values. */
            int64Values: (number|Long)[];

            /** NDArray uint32Values. */
            uint32Values: number[];

            /** NDArray uint64Values. */
            uint64Values: (number|Long)[];

            /**
             * Creates a new NDArray instance using the specified properties.
             * @param [properties] Properties to set
             * @returns NDArray instance
             */
            static create(properties: serving.v1.NDArray.$Shape): serving.v1.NDArray & serving.v1.NDArray.$Shape;
            static create(properties?: serving.v1.NDArray.$Properties): serving.v1.NDArray;

            /**
             * Encodes the specified NDArray message. Does not implicitly {@link serving.v1.NDArray.verify|verify} messages.
             * @param message NDArray message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.NDArray.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a NDArray message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.NDArray & serving.v1.NDArray.$Shape} NDArray
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.NDArray & serving.v1.NDArray.$Shape;
        }

        namespace NDArray {

            /** Properties of a NDArray. */
            interface $Properties {

                /** NDArray dtype */
                dtype?: (serving.v1.NDArray.DType|null);

                /** NDArray shape */
                shape?: (number[]|null);

                /** NDArray floatValues */
                floatValues?: (number[]|null);

                /** NDArray doubleValues */
                doubleValues?: (number[]|null);

                /** NDArray stringValues */
                stringValues?: (string[]|null);

                /** NDArray boolValues */
                boolValues?: (boolean[]|null);

                /** NDArray int32Values */
                int32Values?: (number[]|null);

                /** NDArray int64Values */
                int64Values?: ((number|Long)[]|null);

                /** NDArray uint32Values */
                uint32Values?: (number[]|null);

                /** NDArray uint64Values */
                uint64Values?: ((number|Long)[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a NDArray. */
            type $Shape = serving.v1.NDArray.$Properties;

            /** DType enum. */
            enum DType {

                /** DTYPE_UNSPECIFIED value */
                DTYPE_UNSPECIFIED = 0,

                /** DTYPE_FLOAT value */
                DTYPE_FLOAT = 1,

                /** DTYPE_DOUBLE value */
                DTYPE_DOUBLE = 2,

                /** DTYPE_BOOL value */
                DTYPE_BOOL = 3,

                /** DTYPE_INT32 value */
                DTYPE_INT32 = 4,

                /** DTYPE_INT64 value */
                DTYPE_INT64 = 5,

                /** DTYPE_UINT32 value */
                DTYPE_UINT32 = 6,

                /** DTYPE_UINT64 value */
                DTYPE_UINT64 = 7,

                /** DTYPE_STRING value */
                DTYPE_STRING = 8
            }
        }

        /**
         * Properties of a Series.
         * @deprecated Use serving.v1.Series.$Properties instead.
         */
        interface ISeries extends serving.v1.Series.$Properties {
        }

        /** Represents a Series. */
        class Series {

            /**
             * Constructs a new Series.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.Series.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Series boolValues. */
            boolValues: boolean[];

            /** Series floatValues. */
            floatValues: number[];

            /** Series int32Values. */
            int32Values: number[];

            /** Series doubleValues. */
            doubleValues: number[];

            /** Series stringValues. */
            stringValues: string[];

            /** Series int64Values. */
            int64Values: (number|Long)[];

            /** Series uint32Values. */
            uint32Values: number[];

            /** Series uint64Values. */
            uint64Values: (number|Long)[];

            /** Series nullPositions. */
            nullPositions: number[];

            /** Series index. */
            index?: (serving.v1.Series.$Properties|null);

            /** Series name. */
            name?: (string|null);

            /**
             * Creates a new Series instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Series instance
             */
            static create(properties: serving.v1.Series.$Shape): serving.v1.Series & serving.v1.Series.$Shape;
            static create(properties?: serving.v1.Series.$Properties): serving.v1.Series;

            /**
             * Encodes the specified Series message. Does not implicitly {@link serving.v1.Series.verify|verify} messages.
             * @param message Series message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.Series.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Series message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.Series & serving.v1.Series.$Shape} Series
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.Series & serving.v1.Series.$Shape;
        }

        namespace Series {

            /** Properties of a Series. */
            interface $Properties {

                /** Series boolValues */
                boolValues?: (boolean[]|null);

                /** Series floatValues */
                floatValues?: (number[]|null);

                /** Series int32Values */
                int32Values?: (number[]|null);

                /** Series doubleValues */
                doubleValues?: (number[]|null);

                /** Series stringValues */
                stringValues?: (string[]|null);

                /** Series int64Values */
                int64Values?: ((number|Long)[]|null);

                /** Series uint32Values */
                uint32Values?: (number[]|null);

                /** Series uint64Values */
                uint64Values?: ((number|Long)[]|null);

                /** Series nullPositions */
                nullPositions?: (number[]|null);

                /** Series index */
                index?: (serving.v1.Series.$Properties|null);

                /** Series name */
                name?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Series. */
            type $Shape = serving.v1.Series.$Properties;
        }

        /**
         * Properties of a DataFrame.
         * @deprecated Use serving.v1.DataFrame.$Properties instead.
         */
        interface IDataFrame extends serving.v1.DataFrame.$Properties {
        }

        /** Represents a DataFrame. */
        class DataFrame {

            /**
             * Constructs a new DataFrame.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.DataFrame.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** DataFrame columnNames. */
            columnNames: string[];

            /** DataFrame columns. */
            columns: serving.v1.Series.$Properties[];

            /** DataFrame index. */
            index?: (serving.v1.Series.$Properties|null);

            /**
             * Creates a new DataFrame instance using the specified properties.
             * @param [properties] Properties to set
             * @returns DataFrame instance
             */
            static create(properties: serving.v1.DataFrame.$Shape): serving.v1.DataFrame & serving.v1.DataFrame.$Shape;
            static create(properties?: serving.v1.DataFrame.$Properties): serving.v1.DataFrame;

            /**
             * Encodes the specified DataFrame message. Does not implicitly {@link serving.v1.DataFrame.verify|verify} messages.
             * @param message DataFrame message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.DataFrame.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a DataFrame message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.DataFrame & serving.v1.DataFrame.$Shape} DataFrame
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.DataFrame & serving.v1.DataFrame.$Shape;
        }

        namespace DataFrame {

            /** Properties of a DataFrame. */
            interface $Properties {

                /** DataFrame columnNames */
                columnNames?: (string[]|null);

                /** DataFrame columns */
                columns?: (serving.v1.Series.$Properties[]|null);

                /** DataFrame index */
                index?: (serving.v1.Series.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a DataFrame. */
            type $Shape = serving.v1.DataFrame.$Properties;
        }

        /**
         * Properties of a ServiceMetadataRequest.
         * @deprecated Use serving.v1.ServiceMetadataRequest.$Properties instead.
         */
        interface IServiceMetadataRequest extends serving.v1.ServiceMetadataRequest.$Properties {
        }

        /** Represents a ServiceMetadataRequest. */
        class ServiceMetadataRequest {

            /**
             * Constructs a new ServiceMetadataRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.ServiceMetadataRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /**
             * Creates a new ServiceMetadataRequest instance using the specified properties.
             * @param [properties] Properties to set
             * @returns ServiceMetadataRequest instance
             */
            static create(properties: serving.v1.ServiceMetadataRequest.$Shape): serving.v1.ServiceMetadataRequest & serving.v1.ServiceMetadataRequest.$Shape;
            static create(properties?: serving.v1.ServiceMetadataRequest.$Properties): serving.v1.ServiceMetadataRequest;

            /**
             * Encodes the specified ServiceMetadataRequest message. Does not implicitly {@link serving.v1.ServiceMetadataRequest.verify|verify} messages.
             * @param message ServiceMetadataRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.ServiceMetadataRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ServiceMetadataRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.ServiceMetadataRequest & serving.v1.ServiceMetadataRequest.$Shape} ServiceMetadataRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.ServiceMetadataRequest & serving.v1.ServiceMetadataRequest.$Shape;
        }

        namespace ServiceMetadataRequest {

            /** Properties of a ServiceMetadataRequest. */
            interface $Properties {

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ServiceMetadataRequest. */
            type $Shape = serving.v1.ServiceMetadataRequest.$Properties;
        }

        /**
         * Properties of a ServiceMetadataResponse.
         * @deprecated Use serving.v1.ServiceMetadataResponse.$Properties instead.
         */
        interface IServiceMetadataResponse extends serving.v1.ServiceMetadataResponse.$Properties {
        }

        /** Represents a ServiceMetadataResponse. */
        class ServiceMetadataResponse {

            /**
             * Constructs a new ServiceMetadataResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: serving.v1.ServiceMetadataResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ServiceMetadataResponse name. */
            name: string;

            /** ServiceMetadataResponse apis. */
            apis: serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties[];

            /** ServiceMetadataResponse docs. */
            docs: string;

            /**
             * Creates a new ServiceMetadataResponse instance using the specified properties.
             * @param [properties] Properties to set
             * @returns ServiceMetadataResponse instance
             */
            static create(properties: serving.v1.ServiceMetadataResponse.$Shape): serving.v1.ServiceMetadataResponse & serving.v1.ServiceMetadataResponse.$Shape;
            static create(properties?: serving.v1.ServiceMetadataResponse.$Properties): serving.v1.ServiceMetadataResponse;

            /**
             * Encodes the specified ServiceMetadataResponse message. Does not implicitly {@link serving.v1.ServiceMetadataResponse.verify|verify} messages.
             * @param message ServiceMetadataResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: serving.v1.ServiceMetadataResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ServiceMetadataResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {serving.v1.ServiceMetadataResponse & serving.v1.ServiceMetadataResponse.$Shape} ServiceMetadataResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.ServiceMetadataResponse & serving.v1.ServiceMetadataResponse.$Shape;
        }

        namespace ServiceMetadataResponse {

            /** Properties of a ServiceMetadataResponse. */
            interface $Properties {

                /** ServiceMetadataResponse name */
                name?: (string|null);

                /** ServiceMetadataResponse apis */
                apis?: (serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties[]|null);

                /** ServiceMetadataResponse docs */
                docs?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ServiceMetadataResponse. */
            type $Shape = {
              name?: string|null;
              apis?: serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape[]|null;
              docs?: string|null;
              $unknowns?: Uint8Array[];
            };

            /**
             * Properties of a DescriptorMetadata.
             * @deprecated Use serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties instead.
             */
            interface IDescriptorMetadata extends serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties {
            }

            /** Represents a DescriptorMetadata. */
            class DescriptorMetadata {

                /**
                 * Constructs a new DescriptorMetadata.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** DescriptorMetadata descriptorId. */
                descriptorId?: (string|null);

                /** DescriptorMetadata attributes. */
                attributes?: (google.protobuf.Struct.$Properties|null);

                /**
                 * Creates a new DescriptorMetadata instance using the specified properties.
                 * @param [properties] Properties to set
                 * @returns DescriptorMetadata instance
                 */
                static create(properties: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape): serving.v1.ServiceMetadataResponse.DescriptorMetadata & serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape;
                static create(properties?: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties): serving.v1.ServiceMetadataResponse.DescriptorMetadata;

                /**
                 * Encodes the specified DescriptorMetadata message. Does not implicitly {@link serving.v1.ServiceMetadataResponse.DescriptorMetadata.verify|verify} messages.
                 * @param message DescriptorMetadata message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a DescriptorMetadata message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {serving.v1.ServiceMetadataResponse.DescriptorMetadata & serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape} DescriptorMetadata
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.ServiceMetadataResponse.DescriptorMetadata & serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape;
            }

            namespace DescriptorMetadata {

                /** Properties of a DescriptorMetadata. */
                interface $Properties {

                    /** DescriptorMetadata descriptorId */
                    descriptorId?: (string|null);

                    /** DescriptorMetadata attributes */
                    attributes?: (google.protobuf.Struct.$Properties|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a DescriptorMetadata. */
                type $Shape = {
                  descriptorId?: string|null;
                  attributes?: google.protobuf.Struct.$Shape|null;
                  $unknowns?: Uint8Array[];
                };
            }

            /**
             * Properties of an InferenceAPI.
             * @deprecated Use serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties instead.
             */
            interface IInferenceAPI extends serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties {
            }

            /** Represents an InferenceAPI. */
            class InferenceAPI {

                /**
                 * Constructs a new InferenceAPI.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** InferenceAPI name. */
                name: string;

                /** InferenceAPI input. */
                input?: (serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties|null);

                /** InferenceAPI output. */
                output?: (serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties|null);

                /** InferenceAPI docs. */
                docs?: (string|null);

                /**
                 * Creates a new InferenceAPI instance using the specified properties.
                 * @param [properties] Properties to set
                 * @returns InferenceAPI instance
                 */
                static create(properties: serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape): serving.v1.ServiceMetadataResponse.InferenceAPI & serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape;
                static create(properties?: serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties): serving.v1.ServiceMetadataResponse.InferenceAPI;

                /**
                 * Encodes the specified InferenceAPI message. Does not implicitly {@link serving.v1.ServiceMetadataResponse.InferenceAPI.verify|verify} messages.
                 * @param message InferenceAPI message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an InferenceAPI message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {serving.v1.ServiceMetadataResponse.InferenceAPI & serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape} InferenceAPI
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): serving.v1.ServiceMetadataResponse.InferenceAPI & serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape;
            }

            namespace InferenceAPI {

                /** Properties of an InferenceAPI. */
                interface $Properties {

                    /** InferenceAPI name */
                    name?: (string|null);

                    /** InferenceAPI input */
                    input?: (serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties|null);

                    /** InferenceAPI output */
                    output?: (serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties|null);

                    /** InferenceAPI docs */
                    docs?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an InferenceAPI. */
                type $Shape = {
                  name?: string|null;
                  input?: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape|null;
                  output?: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape|null;
                  docs?: string|null;
                  $unknowns?: Uint8Array[];
                };
            }
        }
    }
}

/** Namespace google. */
export namespace google {

    /** Namespace protobuf. */
    namespace protobuf {

        /**
         * Properties of a Struct.
         * @deprecated Use google.protobuf.Struct.$Properties instead.
         */
        interface IStruct extends google.protobuf.Struct.$Properties {
        }

        /** Represents a Struct. */
        class Struct {

            /**
             * Constructs a new Struct.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.Struct.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Struct fields. */
            fields: { [k: string]: google.protobuf.Value.$Properties };

            /**
             * Creates a new Struct instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Struct instance
             */
            static create(properties: google.protobuf.Struct.$Shape): google.protobuf.Struct & google.protobuf.Struct.$Shape;
            static create(properties?: google.protobuf.Struct.$Properties): google.protobuf.Struct;

            /**
             * Encodes the specified Struct message. Does not implicitly {@link google.protobuf.Struct.verify|verify} messages.
             * @param message Struct message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.Struct.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Struct message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.Struct & google.protobuf.Struct.$Shape} Struct
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.Struct & google.protobuf.Struct.$Shape;
        }

        namespace Struct {

            /** Properties of a Struct. */
            interface $Properties {

                /** Struct fields */
                fields?: ({ [k: string]: google.protobuf.Value.$Properties }|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Struct. */
            type $Shape = {
              fields?: { [k: string]: google.protobuf.Value.$Shape }|null;
              $unknowns?: Uint8Array[];
            };
        }

        /**
         * Properties of a Value.
         * @deprecated Use google.protobuf.Value.$Properties instead.
         */
        interface IValue extends google.protobuf.Value.$Properties {
        }

        /** Represents a Value. */
        class Value {

            /**
             * Constructs a new Value.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.Value.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Value nullValue. */
            nullValue?: (google.protobuf.NullValue|null);

            /** Value numberValue. */
            numberValue?: (number|null);

            /** Value stringValue. */
            stringValue?: (string|null);

            /** Value boolValue. */
            boolValue?: (boolean|null);

            /** Value structValue. */
            structValue?: (google.protobuf.Struct.$Properties|null);

            /** Value listValue. */
            listValue?: (google.protobuf.ListValue.$Properties|null);

            /** Value kind. */
            kind?: ("nullValue"|"numberValue"|"stringValue"|"boolValue"|"structValue"|"listValue");

            /**
             * Creates a new Value instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Value instance
             */
            static create(properties: google.protobuf.Value.$Shape): google.protobuf.Value & google.protobuf.Value.$Shape;
            static create(properties?: google.protobuf.Value.$Properties): google.protobuf.Value;

            /**
             * Encodes the specified Value message. Does not implicitly {@link google.protobuf.Value.verify|verify} messages.
             * @param message Value message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.Value.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Value message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.Value & google.protobuf.Value.$Shape} Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.Value & google.protobuf.Value.$Shape;
        }

        namespace Value {

            /** Properties of a Value. */
            interface $Properties {

                /** Value nullValue */
                nullValue?: (google.protobuf.NullValue|null);

                /** Value numberValue */
                numberValue?: (number|null);

                /** Value stringValue */
                stringValue?: (string|null);

                /** Value boolValue */
                boolValue?: (boolean|null);

                /** Value structValue */
                structValue?: (google.protobuf.Struct.$Properties|null);

                /** Value listValue */
                listValue?: (google.protobuf.ListValue.$Properties|null);

                /** Value kind */
                kind?: ("nullValue"|"numberValue"|"stringValue"|"boolValue"|"structValue"|"listValue");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a Value. */
            type $Shape = {
              nullValue?: google.protobuf.NullValue|null;
              numberValue?: number|null;
              stringValue?: string|null;
              boolValue?: boolean|null;
              structValue?: google.protobuf.Struct.$Shape|null;
              listValue?: google.protobuf.ListValue.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ kind?: undefined; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "nullValue"; nullValue: google.protobuf.NullValue; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "numberValue"; nullValue?: null; numberValue: number; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "stringValue"; nullValue?: null; numberValue?: null; stringValue: string; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "boolValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue: boolean; structValue?: null; listValue?: null }|{ kind?: "structValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue: google.protobuf.Struct.$Shape; listValue?: null }|{ kind?: "listValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue: google.protobuf.ListValue.$Shape })
            );
        }

        /** NullValue enum. */
        enum NullValue {

            /** NULL_VALUE value */
            NULL_VALUE = 0
        }

        /**
         * Properties of a ListValue.
         * @deprecated Use google.protobuf.ListValue.$Properties instead.
         */
        interface IListValue extends google.protobuf.ListValue.$Properties {
        }

        /** Represents a ListValue. */
        class ListValue {

            /**
             * Constructs a new ListValue.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.ListValue.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ListValue values. */
            values: google.protobuf.Value.$Properties[];

            /**
             * Creates a new ListValue instance using the specified properties.
             * @param [properties] Properties to set
             * @returns ListValue instance
             */
            static create(properties: google.protobuf.ListValue.$Shape): google.protobuf.ListValue & google.protobuf.ListValue.$Shape;
            static create(properties?: google.protobuf.ListValue.$Properties): google.protobuf.ListValue;

            /**
             * Encodes the specified ListValue message. Does not implicitly {@link google.protobuf.ListValue.verify|verify} messages.
             * @param message ListValue message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.ListValue.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ListValue message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.ListValue & google.protobuf.ListValue.$Shape} ListValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.ListValue & google.protobuf.ListValue.$Shape;
        }

        namespace ListValue {

            /** Properties of a ListValue. */
            interface $Properties {

                /** ListValue values */
                values?: (google.protobuf.Value.$Properties[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ListValue. */
            type $Shape = {
              values?: google.protobuf.Value.$Shape[]|null;
              $unknowns?: Uint8Array[];
            };
        }

        /**
         * Properties of a DoubleValue.
         * @deprecated Use google.protobuf.DoubleValue.$Properties instead.
         */
        interface IDoubleValue extends google.protobuf.DoubleValue.$Properties {
        }

        /** Represents a DoubleValue. */
        class DoubleValue {

            /**
             * Constructs a new DoubleValue.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.DoubleValue.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** DoubleValue value. */
            value: number;

            /**
             * Creates a new DoubleValue instance using the specified properties.
             * @param [properties] Properties to set
             * @returns DoubleValue instance
             */
            static create(properties: google.protobuf.DoubleValue.$Shape): google.protobuf.DoubleValue & google.protobuf.DoubleValue.$Shape;
            static create(properties?: google.protobuf.DoubleValue.$Properties): google.protobuf.DoubleValue;

            /**
             * Encodes the specified DoubleValue message. Does not implicitly {@link google.protobuf.DoubleValue.verify|verify} messages.
             * @param message DoubleValue message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.DoubleValue.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a DoubleValue message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.DoubleValue & google.protobuf.DoubleValue.$Shape} DoubleValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.DoubleValue & google.protobuf.DoubleValue.$Shape;
        }

        namespace DoubleValue {

            /** Properties of a DoubleValue. */
            interface $Properties {

                /** DoubleValue value */
                value?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a DoubleValue. */
            type $Shape = google.protobuf.DoubleValue.$Properties;
        }

        /**
         * Properties of a FloatValue.
         * @deprecated Use google.protobuf.FloatValue.$Properties instead.
         */
        interface IFloatValue extends google.protobuf.FloatValue.$Properties {
        }

        /** Represents a FloatValue. */
        class FloatValue {

            /**
             * Constructs a new FloatValue.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.FloatValue.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** FloatValue value. */
            value: number;

            /**
             * Creates a new FloatValue instance using the specified properties.
             * @param [properties] Properties to set
             * @returns FloatValue instance
             */
            static create(properties: google.protobuf.FloatValue.$Shape): google.protobuf.FloatValue & google.protobuf.FloatValue.$Shape;
            static create(properties?: google.protobuf.FloatValue.$Properties): google.protobuf.FloatValue;

            /**
             * Encodes the specified FloatValue message. Does not implicitly {@link google.protobuf.FloatValue.verify|verify} messages.
             * @param message FloatValue message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.FloatValue.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a FloatValue message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.FloatValue & google.protobuf.FloatValue.$Shape} FloatValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.FloatValue & google.protobuf.FloatValue.$Shape;
        }

        namespace FloatValue {

            /** Properties of a FloatValue. */
            interface $Properties {

                /** FloatValue value */
                value?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a FloatValue. */
            type $Shape = google.protobuf.FloatValue.$Properties;
        }

        /**
         * Properties of an Int64Value.
         * @deprecated Use google.protobuf.Int64Value.$Properties instead.
         */
        interface IInt64Value extends google.protobuf.Int64Value.$Properties {
        }

        /** Represents an Int64Value. */
        class Int64Value {

            /**
             * Constructs a new Int64Value.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.Int64Value.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Int64Value value. */
            value: (number|Long);

            /**
             * Creates a new Int64Value instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Int64Value instance
             */
            static create(properties: google.protobuf.Int64Value.$Shape): google.protobuf.Int64Value & google.protobuf.Int64Value.$Shape;
            static create(properties?: google.protobuf.Int64Value.$Properties): google.protobuf.Int64Value;

            /**
             * Encodes the specified Int64Value message. Does not implicitly {@link google.protobuf.Int64Value.verify|verify} messages.
             * @param message Int64Value message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.Int64Value.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an Int64Value message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.Int64Value & google.protobuf.Int64Value.$Shape} Int64Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.Int64Value & google.protobuf.Int64Value.$Shape;
        }

        namespace Int64Value {

            /** Properties of an Int64Value. */
            interface $Properties {

                /** Int64Value value */
                value?: (number|Long|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an Int64Value. */
            type $Shape = google.protobuf.Int64Value.$Properties;
        }

        /**
         * Properties of a UInt64Value.
         * @deprecated Use google.protobuf.UInt64Value.$Properties instead.
         */
        interface IUInt64Value extends google.protobuf.UInt64Value.$Properties {
        }

        /** Represents a UInt64Value. */
        class UInt64Value {

            /**
             * Constructs a new UInt64Value.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.UInt64Value.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** UInt64Value value. */
            value: (number|Long);

            /**
             * Creates a new UInt64Value instance using the specified properties.
             * @param [properties] Properties to set
             * @returns UInt64Value instance
             */
            static create(properties: google.protobuf.UInt64Value.$Shape): google.protobuf.UInt64Value & google.protobuf.UInt64Value.$Shape;
            static create(properties?: google.protobuf.UInt64Value.$Properties): google.protobuf.UInt64Value;

            /**
             * Encodes the specified UInt64Value message. Does not implicitly {@link google.protobuf.UInt64Value.verify|verify} messages.
             * @param message UInt64Value message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.UInt64Value.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a UInt64Value message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.UInt64Value & google.protobuf.UInt64Value.$Shape} UInt64Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.UInt64Value & google.protobuf.UInt64Value.$Shape;
        }

        namespace UInt64Value {

            /** Properties of a UInt64Value. */
            interface $Properties {

                /** UInt64Value value */
                value?: (number|Long|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a UInt64Value. */
            type $Shape = google.protobuf.UInt64Value.$Properties;
        }

        /**
         * Properties of an Int32Value.
         * @deprecated Use google.protobuf.Int32Value.$Properties instead.
         */
        interface IInt32Value extends google.protobuf.Int32Value.$Properties {
        }

        /** Represents an Int32Value. */
        class Int32Value {

            /**
             * Constructs a new Int32Value.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.Int32Value.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Int32Value value. */
            value: number;

            /**
             * Creates a new Int32Value instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Int32Value instance
             */
            static create(properties: google.protobuf.Int32Value.$Shape): google.protobuf.Int32Value & google.protobuf.Int32Value.$Shape;
            static create(properties?: google.protobuf.Int32Value.$Properties): google.protobuf.Int32Value;

            /**
             * Encodes the specified Int32Value message. Does not implicitly {@link google.protobuf.Int32Value.verify|verify} messages.
             * @param message Int32Value message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.Int32Value.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an Int32Value message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.Int32Value & google.protobuf.Int32Value.$Shape} Int32Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.Int32Value & google.protobuf.Int32Value.$Shape;
        }

        namespace Int32Value {

            /** Properties of an Int32Value. */
            interface $Properties {

                /** Int32Value value */
                value?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an Int32Value. */
            type $Shape = google.protobuf.Int32Value.$Properties;
        }

        /**
         * Properties of a UInt32Value.
         * @deprecated Use google.protobuf.UInt32Value.$Properties instead.
         */
        interface IUInt32Value extends google.protobuf.UInt32Value.$Properties {
        }

        /** Represents a UInt32Value. */
        class UInt32Value {

            /**
             * Constructs a new UInt32Value.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.UInt32Value.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** UInt32Value value. */
            value: number;

            /**
             * Creates a new UInt32Value instance using the specified properties.
             * @param [properties] Properties to set
             * @returns UInt32Value instance
             */
            static create(properties: google.protobuf.UInt32Value.$Shape): google.protobuf.UInt32Value & google.protobuf.UInt32Value.$Shape;
            static create(properties?: google.protobuf.UInt32Value.$Properties): google.protobuf.UInt32Value;

            /**
             * Encodes the specified UInt32Value message. Does not implicitly {@link google.protobuf.UInt32Value.verify|verify} messages.
             * @param message UInt32Value message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.UInt32Value.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a UInt32Value message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.UInt32Value & google.protobuf.UInt32Value.$Shape} UInt32Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.UInt32Value & google.protobuf.UInt32Value.$Shape;
        }

        namespace UInt32Value {

            /** Properties of a UInt32Value. */
            interface $Properties {

                /** UInt32Value value */
                value?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a UInt32Value. */
            type $Shape = google.protobuf.UInt32Value.$Properties;
        }

        /**
         * Properties of a BoolValue.
         * @deprecated Use google.protobuf.BoolValue.$Properties instead.
         */
        interface IBoolValue extends google.protobuf.BoolValue.$Properties {
        }

        /** Represents a BoolValue. */
        class BoolValue {

            /**
             * Constructs a new BoolValue.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.BoolValue.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** BoolValue value. */
            value: boolean;

            /**
             * Creates a new BoolValue instance using the specified properties.
             * @param [properties] Properties to set
             * @returns BoolValue instance
             */
            static create(properties: google.protobuf.BoolValue.$Shape): google.protobuf.BoolValue & google.protobuf.BoolValue.$Shape;
            static create(properties?: google.protobuf.BoolValue.$Properties): google.protobuf.BoolValue;

            /**
             * Encodes the specified BoolValue message. Does not implicitly {@link google.protobuf.BoolValue.verify|verify} messages.
             * @param message BoolValue message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.BoolValue.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a BoolValue message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.BoolValue & google.protobuf.BoolValue.$Shape} BoolValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.BoolValue & google.protobuf.BoolValue.$Shape;
        }

        namespace BoolValue {

            /** Properties of a BoolValue. */
            interface $Properties {

                /** BoolValue value */
                value?: (boolean|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a BoolValue. */
            type $Shape = google.protobuf.BoolValue.$Properties;
        }

        /**
         * Properties of a StringValue.
         * @deprecated Use google.protobuf.StringValue.$Properties instead.
         */
        interface IStringValue extends google.protobuf.StringValue.$Properties {
        }

        /** Represents a StringValue. */
        class StringValue {

            /**
             * Constructs a new StringValue.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.StringValue.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** StringValue value. */
            value: string;

            /**
             * Creates a new StringValue instance using the specified properties.
             * @param [properties] Properties to set
             * @returns StringValue instance
             */
            static create(properties: google.protobuf.StringValue.$Shape): google.protobuf.StringValue & google.protobuf.StringValue.$Shape;
            static create(properties?: google.protobuf.StringValue.$Properties): google.protobuf.StringValue;

            /**
             * Encodes the specified StringValue message. Does not implicitly {@link google.protobuf.StringValue.verify|verify} messages.
             * @param message StringValue message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.StringValue.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a StringValue message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.StringValue & google.protobuf.StringValue.$Shape} StringValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.StringValue & google.protobuf.StringValue.$Shape;
        }

        namespace StringValue {

            /** Properties of a StringValue. */
            interface $Properties {

                /** StringValue value */
                value?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a StringValue. */
            type $Shape = google.protobuf.StringValue.$Properties;
        }

        /**
         * Properties of a BytesValue.
         * @deprecated Use google.protobuf.BytesValue.$Properties instead.
         */
        interface IBytesValue extends google.protobuf.BytesValue.$Properties {
        }

        /** Represents a BytesValue. */
        class BytesValue {

            /**
             * Constructs a new BytesValue.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.BytesValue.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** BytesValue value. */
            value: Uint8Array;

            /**
             * Creates a new BytesValue instance using the specified properties.
             * @param [properties] Properties to set
             * @returns BytesValue instance
             */
            static create(properties: google.protobuf.BytesValue.$Shape): google.protobuf.BytesValue & google.protobuf.BytesValue.$Shape;
            static create(properties?: google.protobuf.BytesValue.$Properties): google.protobuf.BytesValue;

            /**
             * Encodes the specified BytesValue message. Does not implicitly {@link google.protobuf.BytesValue.verify|verify} messages.
             * @param message BytesValue message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.BytesValue.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a BytesValue message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.BytesValue & google.protobuf.BytesValue.$Shape} BytesValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.BytesValue & google.protobuf.BytesValue.$Shape;
        }

        namespace BytesValue {

            /** Properties of a BytesValue. */
            interface $Properties {

                /** BytesValue value */
                value?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a BytesValue. */
            type $Shape = google.protobuf.BytesValue.$Properties;
        }
    }
}
