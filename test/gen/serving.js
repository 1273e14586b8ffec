/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

// Common aliases
const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

// Exported root namespace
const $root = $protobuf.roots["serving"] || ($protobuf.roots["serving"] = {});

export const serving = $root.serving = (() => {

    /**
     * Namespace serving.
     * @exports serving
     * @namespace
     */
    const serving = {};

    serving.v1 = (function() {

        /**
         * Namespace v1.
         * @memberof serving
         * @namespace
         */
        const v1 = {};

        v1.Request = (function() {

            /**
             * Properties of a Request.
             * @typedef {Object} serving.v1.Request.$Properties
             * @property {string|null} [apiName] Request apiName
             * @property {serving.v1.NDArray.$Properties|null} [ndarray] Request ndarray
             * @property {serving.v1.DataFrame.$Properties|null} [dataframe] Request dataframe
             * @property {serving.v1.Series.$Properties|null} [series] Request series
             * @property {serving.v1.File.$Properties|null} [file] Request file
             * @property {google.protobuf.StringValue.$Properties|null} [text] Request text
             * @property {google.protobuf.Value.$Properties|null} [json] Request json
             * @property {serving.v1.Multipart.$Properties|null} [multipart] Request multipart
             * @property {Uint8Array|null} [serializedBytes] Request serializedBytes
             * @property {"ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"multipart"|"serializedBytes"} [content] Request content
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Request.
             * @memberof serving.v1
             * @interface IRequest
             * @augments serving.v1.Request.$Properties
             * @deprecated Use serving.v1.Request.$Properties instead.
             */

            /**
             * Narrowed shape of a Request.
             * @typedef {{
             *   apiName?: string|null;
             *   ndarray?: serving.v1.NDArray.$Shape|null;
             *   dataframe?: serving.v1.DataFrame.$Shape|null;
             *   series?: serving.v1.Series.$Shape|null;
             *   file?: serving.v1.File.$Shape|null;
             *   text?: google.protobuf.StringValue.$Shape|null;
             *   json?: google.protobuf.Value.$Shape|null;
             *   multipart?: serving.v1.Multipart.$Shape|null;
             *   serializedBytes?: Uint8Array|null;
             *   $unknowns?: Array.<Uint8Array>;
             * } & (
             *   ({ content?: undefined; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "ndarray"; ndarray: serving.v1.NDArray.$Shape; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "dataframe"; ndarray?: null; dataframe: serving.v1.DataFrame.$Shape; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "series"; ndarray?: null; dataframe?: null; series: serving.v1.Series.$Shape; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "file"; ndarray?: null; dataframe?: null; series?: null; file: serving.v1.File.$Shape; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "text"; ndarray?: null; dataframe?: null; series?: null; file?: null; text: google.protobuf.StringValue.$Shape; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "json"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json: google.protobuf.Value.$Shape; multipart?: null; serializedBytes?: null }|{ content?: "multipart"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart: serving.v1.Multipart.$Shape; serializedBytes?: null }|{ content?: "serializedBytes"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes: Uint8Array })
             * )} serving.v1.Request.$Shape
             */

            /**
             * Constructs a new Request.
             * @memberof serving.v1
             * @classdesc Represents a Request.
             * @constructor
             * @param {serving.v1.Request.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Request = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Request apiName.
             * @member {string} apiName
             * @memberof serving.v1.Request
             * @instance
             */
            Request.prototype.apiName = "";

            /**
             * Request ndarray.
             * @member {serving.v1.NDArray.$Properties|null|undefined} ndarray
             * @memberof serving.v1.Request
             * @instance
             */
            Request.prototype.ndarray = null;

            /**
             * Request dataframe.
             * @member {serving.v1.DataFrame.$Properties|null|undefined} dataframe
             * @memberof serving.v1.Request
             * @instance
             */
            Request.prototype.dataframe = null;

            /**
             * Request series.
             * @member {serving.v1.Series.$Properties|null|undefined} series
             * @memberof serving.v1.Request
             * @instance
             */
            Request.prototype.series = null;

            /**
             * Request file.
             * @member {serving.v1.File.$Properties|null|undefined} file
             * @memberof serving.v1.Request
             * @instance
             */
            Request.prototype.file = null;

            /**
             * Request text.
             * @member {google.protobuf.StringValue.$Properties|null|undefined} text
             * @memberof serving.v1.Request
             * @instance
             */
            Request.prototype.text = null;

            /**
             * Request json.
             * @member {google.protobuf.Value.$Properties|null|undefined} json
             * @memberof serving.v1.Request
             * @instance
             */
            Request.prototype.json = null;

            /**
             * Request multipart.
             * @member {serving.v1.Multipart.$Properties|null|undefined} multipart
             * @memberof serving.v1.Request
             * @instance
             */
            Request.prototype.multipart = null;

            /**
             * Request serializedBytes.
             * @member {Uint8Array|null|undefined} serializedBytes
             * @memberof serving.v1.Request
             * @instance
             */
            Request.prototype.serializedBytes = null;

            // OneOf field names bound to virtual getters and setters
            let $oneOfFields;

            /**
             * Request content.
             * @member {"ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"multipart"|"serializedBytes"|undefined} content
             * @memberof serving.v1.Request
             * @instance
             */
            $Object.defineProperty(Request.prototype, "content", {
                get: $util.oneOfGetter($oneOfFields = ["ndarray", "dataframe", "series", "file", "text", "json", "multipart", "serializedBytes"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            /**
             * Creates a new Request instance using the specified properties.
             * @function create
             * @memberof serving.v1.Request
             * @static
             * @param {serving.v1.Request.$Properties=} [properties] Properties to set
             * @returns {serving.v1.Request} Request instance
             * @type {{
             *   (properties: serving.v1.Request.$Shape): serving.v1.Request & serving.v1.Request.$Shape;
             *   (properties?: serving.v1.Request.$Properties): serving.v1.Request;
             * }}
             */
            Request.create = function(properties) {
                return new Request(properties);
            };

            /**
             * Encodes the specified Request message. Does not implicitly {@link serving.v1.Request.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.Request
             * @static
             * @param {serving.v1.Request.$Properties} message Request message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Request.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.apiName != null && $Object.hasOwnProperty.call(message, "apiName") && message.apiName !== "")
                    writer.uint32(/* id 1, wireType 2 =*/10).string(message.apiName);
                if (message.serializedBytes != null && $Object.hasOwnProperty.call(message, "serializedBytes"))
                    writer.uint32(/* id 2, wireType 2 =*/18).bytes(message.serializedBytes);
                if (message.ndarray != null && $Object.hasOwnProperty.call(message, "ndarray"))
                    $root.serving.v1.NDArray.encode(message.ndarray, writer.uint32(/* id 3, wireType 2 =*/26).fork(), _depth + 1).ldelim();
                if (message.dataframe != null && $Object.hasOwnProperty.call(message, "dataframe"))
                    $root.serving.v1.DataFrame.encode(message.dataframe, writer.uint32(/* id 5, wireType 2 =*/42).fork(), _depth + 1).ldelim();
                if (message.series != null && $Object.hasOwnProperty.call(message, "series"))
                    $root.serving.v1.Series.encode(message.series, writer.uint32(/* id 6, wireType 2 =*/50).fork(), _depth + 1).ldelim();
                if (message.file != null && $Object.hasOwnProperty.call(message, "file"))
                    $root.serving.v1.File.encode(message.file, writer.uint32(/* id 7, wireType 2 =*/58).fork(), _depth + 1).ldelim();
                if (message.text != null && $Object.hasOwnProperty.call(message, "text"))
                    $root.google.protobuf.StringValue.encode(message.text, writer.uint32(/* id 8, wireType 2 =*/66).fork(), _depth + 1).ldelim();
                if (message.json != null && $Object.hasOwnProperty.call(message, "json"))
                    $root.google.protobuf.Value.encode(message.json, writer.uint32(/* id 9, wireType 2 =*/74).fork(), _depth + 1).ldelim();
                if (message.multipart != null && $Object.hasOwnProperty.call(message, "multipart"))
                    $root.serving.v1.Multipart.encode(message.multipart, writer.uint32(/* id 10, wireType 2 =*/82).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Request message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.Request
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.Request & serving.v1.Request.$Shape} Request
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Request.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.Request();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.apiName = value;
                            else
                                delete message.apiName;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.ndarray = $root.serving.v1.NDArray.decode(reader, reader.size(), $undefined, _depth + 1, message.ndarray);
                            message.content = "ndarray";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.dataframe = $root.serving.v1.DataFrame.decode(reader, reader.size(), $undefined, _depth + 1, message.dataframe);
                            message.content = "dataframe";
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.series = $root.serving.v1.Series.decode(reader, reader.size(), $undefined, _depth + 1, message.series);
                            message.content = "series";
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            message.file = $root.serving.v1.File.decode(reader, reader.size(), $undefined, _depth + 1, message.file);
                            message.content = "file";
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            message.text = $root.google.protobuf.StringValue.decode(reader, reader.size(), $undefined, _depth + 1, message.text);
                            message.content = "text";
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            message.json = $root.google.protobuf.Value.decode(reader, reader.size(), $undefined, _depth + 1, message.json);
                            message.content = "json";
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            message.multipart = $root.serving.v1.Multipart.decode(reader, reader.size(), $undefined, _depth + 1, message.multipart);
                            message.content = "multipart";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.serializedBytes = reader.bytes();
                            message.content = "serializedBytes";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Request;
        })();

        v1.Response = (function() {

            /**
             * Properties of a Response.
             * @typedef {Object} serving.v1.Response.$Properties
             * @property {serving.v1.NDArray.$Properties|null} [ndarray] Response ndarray
             * @property {serving.v1.DataFrame.$Properties|null} [dataframe] Response dataframe
             * @property {serving.v1.Series.$Properties|null} [series] Response series
             * @property {serving.v1.File.$Properties|null} [file] Response file
             * @property {google.protobuf.StringValue.$Properties|null} [text] Response text
             * @property {google.protobuf.Value.$Properties|null} [json] Response json
             * @property {serving.v1.Multipart.$Properties|null} [multipart] Response multipart
             * @property {Uint8Array|null} [serializedBytes] Response serializedBytes
             * @property {"ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"multipart"|"serializedBytes"} [content] Response content
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Response.
             * @memberof serving.v1
             * @interface IResponse
             * @augments serving.v1.Response.$Properties
             * @deprecated Use serving.v1.Response.$Properties instead.
             */

            /**
             * Narrowed shape of a Response.
             * @typedef {{
             *   ndarray?: serving.v1.NDArray.$Shape|null;
             *   dataframe?: serving.v1.DataFrame.$Shape|null;
             *   series?: serving.v1.Series.$Shape|null;
             *   file?: serving.v1.File.$Shape|null;
             *   text?: google.protobuf.StringValue.$Shape|null;
             *   json?: google.protobuf.Value.$Shape|null;
             *   multipart?: serving.v1.Multipart.$Shape|null;
             *   serializedBytes?: Uint8Array|null;
             *   $unknowns?: Array.<Uint8Array>;
             * } & (
             *   ({ content?: undefined; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "ndarray"; ndarray: serving.v1.NDArray.$Shape; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "dataframe"; ndarray?: null; dataframe: serving.v1.DataFrame.$Shape; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "series"; ndarray?: null; dataframe?: null; series: serving.v1.Series.$Shape; file?: null; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "file"; ndarray?: null; dataframe?: null; series?: null; file: serving.v1.File.$Shape; text?: null; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "text"; ndarray?: null; dataframe?: null; series?: null; file?: null; text: google.protobuf.StringValue.$Shape; json?: null; multipart?: null; serializedBytes?: null }|{ content?: "json"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json: google.protobuf.Value.$Shape; multipart?: null; serializedBytes?: null }|{ content?: "multipart"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart: serving.v1.Multipart.$Shape; serializedBytes?: null }|{ content?: "serializedBytes"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; multipart?: null; serializedBytes: Uint8Array })
             * )} serving.v1.Response.$Shape
             */

            /**
             * Constructs a new Response.
             * @memberof serving.v1
             * @classdesc Represents a Response.
             * @constructor
             * @param {serving.v1.Response.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Response = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Response ndarray.
             * @member {serving.v1.NDArray.$Properties|null|undefined} ndarray
             * @memberof serving.v1.Response
             * @instance
             */
            Response.prototype.ndarray = null;

            /**
             * Response dataframe.
             * @member {serving.v1.DataFrame.$Properties|null|undefined} dataframe
             * @memberof serving.v1.Response
             * @instance
             */
            Response.prototype.dataframe = null;

            /**
             * Response series.
             * @member {serving.v1.Series.$Properties|null|undefined} series
             * @memberof serving.v1.Response
             * @instance
             */
            Response.prototype.series = null;

            /**
             * Response file.
             * @member {serving.v1.File.$Properties|null|undefined} file
             * @memberof serving.v1.Response
             * @instance
             */
            Response.prototype.file = null;

            /**
             * Response text.
             * @member {google.protobuf.StringValue.$Properties|null|undefined} text
             * @memberof serving.v1.Response
             * @instance
             */
            Response.prototype.text = null;

            /**
             * Response json.
             * @member {google.protobuf.Value.$Properties|null|undefined} json
             * @memberof serving.v1.Response
             * @instance
             */
            Response.prototype.json = null;

            /**
             * Response multipart.
             * @member {serving.v1.Multipart.$Properties|null|undefined} multipart
             * @memberof serving.v1.Response
             * @instance
             */
            Response.prototype.multipart = null;

            /**
             * Response serializedBytes.
             * @member {Uint8Array|null|undefined} serializedBytes
             * @memberof serving.v1.Response
             * @instance
             */
            Response.prototype.serializedBytes = null;

            // OneOf field names bound to virtual getters and setters
            let $oneOfFields;

            /**
             * Response content.
             * @member {"ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"multipart"|"serializedBytes"|undefined} content
             * @memberof serving.v1.Response
             * @instance
             */
            $Object.defineProperty(Response.prototype, "content", {
                get: $util.oneOfGetter($oneOfFields = ["ndarray", "dataframe", "series", "file", "text", "json", "multipart", "serializedBytes"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            /**
             * Creates a new Response instance using the specified properties.
             * @function create
             * @memberof serving.v1.Response
             * @static
             * @param {serving.v1.Response.$Properties=} [properties] Properties to set
             * @returns {serving.v1.Response} Response instance
             * @type {{
             *   (properties: serving.v1.Response.$Shape): serving.v1.Response & serving.v1.Response.$Shape;
             *   (properties?: serving.v1.Response.$Properties): serving.v1.Response;
             * }}
             */
            Response.create = function(properties) {
                return new Response(properties);
            };

            /**
             * Encodes the specified Response message. Does not implicitly {@link serving.v1.Response.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.Response
             * @static
             * @param {serving.v1.Response.$Properties} message Response message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Response.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.ndarray != null && $Object.hasOwnProperty.call(message, "ndarray"))
                    $root.serving.v1.NDArray.encode(message.ndarray, writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                if (message.serializedBytes != null && $Object.hasOwnProperty.call(message, "serializedBytes"))
                    writer.uint32(/* id 2, wireType 2 =*/18).bytes(message.serializedBytes);
                if (message.dataframe != null && $Object.hasOwnProperty.call(message, "dataframe"))
                    $root.serving.v1.DataFrame.encode(message.dataframe, writer.uint32(/* id 3, wireType 2 =*/26).fork(), _depth + 1).ldelim();
                if (message.series != null && $Object.hasOwnProperty.call(message, "series"))
                    $root.serving.v1.Series.encode(message.series, writer.uint32(/* id 5, wireType 2 =*/42).fork(), _depth + 1).ldelim();
                if (message.file != null && $Object.hasOwnProperty.call(message, "file"))
                    $root.serving.v1.File.encode(message.file, writer.uint32(/* id 6, wireType 2 =*/50).fork(), _depth + 1).ldelim();
                if (message.text != null && $Object.hasOwnProperty.call(message, "text"))
                    $root.google.protobuf.StringValue.encode(message.text, writer.uint32(/* id 7, wireType 2 =*/58).fork(), _depth + 1).ldelim();
                if (message.json != null && $Object.hasOwnProperty.call(message, "json"))
                    $root.google.protobuf.Value.encode(message.json, writer.uint32(/* id 8, wireType 2 =*/66).fork(), _depth + 1).ldelim();
                if (message.multipart != null && $Object.hasOwnProperty.call(message, "multipart"))
                    $root.serving.v1.Multipart.encode(message.multipart, writer.uint32(/* id 9, wireType 2 =*/74).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Response message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.Response
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.Response & serving.v1.Response.$Shape} Response
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Response.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.Response();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.ndarray = $root.serving.v1.NDArray.decode(reader, reader.size(), $undefined, _depth + 1, message.ndarray);
                            message.content = "ndarray";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.dataframe = $root.serving.v1.DataFrame.decode(reader, reader.size(), $undefined, _depth + 1, message.dataframe);
                            message.content = "dataframe";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.series = $root.serving.v1.Series.decode(reader, reader.size(), $undefined, _depth + 1, message.series);
                            message.content = "series";
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.file = $root.serving.v1.File.decode(reader, reader.size(), $undefined, _depth + 1, message.file);
                            message.content = "file";
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            message.text = $root.google.protobuf.StringValue.decode(reader, reader.size(), $undefined, _depth + 1, message.text);
                            message.content = "text";
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            message.json = $root.google.protobuf.Value.decode(reader, reader.size(), $undefined, _depth + 1, message.json);
                            message.content = "json";
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            message.multipart = $root.serving.v1.Multipart.decode(reader, reader.size(), $undefined, _depth + 1, message.multipart);
                            message.content = "multipart";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.serializedBytes = reader.bytes();
                            message.content = "serializedBytes";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Response;
        })();

        v1.Part = (function() {

            /**
             * Properties of a Part.
             * @typedef {Object} serving.v1.Part.$Properties
             * @property {serving.v1.NDArray.$Properties|null} [ndarray] Part ndarray
             * @property {serving.v1.DataFrame.$Properties|null} [dataframe] Part dataframe
             * @property {serving.v1.Series.$Properties|null} [series] Part series
             * @property {serving.v1.File.$Properties|null} [file] Part file
             * @property {google.protobuf.StringValue.$Properties|null} [text] Part text
             * @property {google.protobuf.Value.$Properties|null} [json] Part json
             * @property {Uint8Array|null} [serializedBytes] Part serializedBytes
             * @property {"ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"serializedBytes"} [representation] Part representation
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Part.
             * @memberof serving.v1
             * @interface IPart
             * @augments serving.v1.Part.$Properties
             * @deprecated Use serving.v1.Part.$Properties instead.
             */

            /**
             * Narrowed shape of a Part.
             * @typedef {{
             *   ndarray?: serving.v1.NDArray.$Shape|null;
             *   dataframe?: serving.v1.DataFrame.$Shape|null;
             *   series?: serving.v1.Series.$Shape|null;
             *   file?: serving.v1.File.$Shape|null;
             *   text?: google.protobuf.StringValue.$Shape|null;
             *   json?: google.protobuf.Value.$Shape|null;
             *   serializedBytes?: Uint8Array|null;
             *   $unknowns?: Array.<Uint8Array>;
             * } & (
             *   ({ representation?: undefined; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; serializedBytes?: null }|{ representation?: "ndarray"; ndarray: serving.v1.NDArray.$Shape; dataframe?: null; series?: null; file?: null; text?: null; json?: null; serializedBytes?: null }|{ representation?: "dataframe"; ndarray?: null; dataframe: serving.v1.DataFrame.$Shape; series?: null; file?: null; text?: null; json?: null; serializedBytes?: null }|{ representation?: "series"; ndarray?: null; dataframe?: null; series: serving.v1.Series.$Shape; file?: null; text?: null; json?: null; serializedBytes?: null }|{ representation?: "file"; ndarray?: null; dataframe?: null; series?: null; file: serving.v1.File.$Shape; text?: null; json?: null; serializedBytes?: null }|{ representation?: "text"; ndarray?: null; dataframe?: null; series?: null; file?: null; text: google.protobuf.StringValue.$Shape; json?: null; serializedBytes?: null }|{ representation?: "json"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json: google.protobuf.Value.$Shape; serializedBytes?: null }|{ representation?: "serializedBytes"; ndarray?: null; dataframe?: null; series?: null; file?: null; text?: null; json?: null; serializedBytes: Uint8Array })
             * )} serving.v1.Part.$Shape
             */

            /**
             * Constructs a new Part.
             * @memberof serving.v1
             * @classdesc Represents a Part.
             * @constructor
             * @param {serving.v1.Part.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Part = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Part ndarray.
             * @member {serving.v1.NDArray.$Properties|null|undefined} ndarray
             * @memberof serving.v1.Part
             * @instance
             */
            Part.prototype.ndarray = null;

            /**
             * Part dataframe.
             * @member {serving.v1.DataFrame.$Properties|null|undefined} dataframe
             * @memberof serving.v1.Part
             * @instance
             */
            Part.prototype.dataframe = null;

            /**
             * Part series.
             * @member {serving.v1.Series.$Properties|null|undefined} series
             * @memberof serving.v1.Part
             * @instance
             */
            Part.prototype.series = null;

            /**
             * Part file.
             * @member {serving.v1.File.$Properties|null|undefined} file
             * @memberof serving.v1.Part
             * @instance
             */
            Part.prototype.file = null;

            /**
             * Part text.
             * @member {google.protobuf.StringValue.$Properties|null|undefined} text
             * @memberof serving.v1.Part
             * @instance
             */
            Part.prototype.text = null;

            /**
             * Part json.
             * @member {google.protobuf.Value.$Properties|null|undefined} json
             * @memberof serving.v1.Part
             * @instance
             */
            Part.prototype.json = null;

            /**
             * Part serializedBytes.
             * @member {Uint8Array|null|undefined} serializedBytes
             * @memberof serving.v1.Part
             * @instance
             */
            Part.prototype.serializedBytes = null;

            // OneOf field names bound to virtual getters and setters
            let $oneOfFields;

            /**
             * Part representation.
             * @member {"ndarray"|"dataframe"|"series"|"file"|"text"|"json"|"serializedBytes"|undefined} representation
             * @memberof serving.v1.Part
             * @instance
             */
            $Object.defineProperty(Part.prototype, "representation", {
                get: $util.oneOfGetter($oneOfFields = ["ndarray", "dataframe", "series", "file", "text", "json", "serializedBytes"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            /**
             * Creates a new Part instance using the specified properties.
             * @function create
             * @memberof serving.v1.Part
             * @static
             * @param {serving.v1.Part.$Properties=} [properties] Properties to set
             * @returns {serving.v1.Part} Part instance
             * @type {{
             *   (properties: serving.v1.Part.$Shape): serving.v1.Part & serving.v1.Part.$Shape;
             *   (properties?: serving.v1.Part.$Properties): serving.v1.Part;
             * }}
             */
            Part.create = function(properties) {
                return new Part(properties);
            };

            /**
             * Encodes the specified Part message. Does not implicitly {@link serving.v1.Part.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.Part
             * @static
             * @param {serving.v1.Part.$Properties} message Part message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Part.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.ndarray != null && $Object.hasOwnProperty.call(message, "ndarray"))
                    $root.serving.v1.NDArray.encode(message.ndarray, writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                if (message.dataframe != null && $Object.hasOwnProperty.call(message, "dataframe"))
                    $root.serving.v1.DataFrame.encode(message.dataframe, writer.uint32(/* id 3, wireType 2 =*/26).fork(), _depth + 1).ldelim();
                if (message.serializedBytes != null && $Object.hasOwnProperty.call(message, "serializedBytes"))
                    writer.uint32(/* id 4, wireType 2 =*/34).bytes(message.serializedBytes);
                if (message.series != null && $Object.hasOwnProperty.call(message, "series"))
                    $root.serving.v1.Series.encode(message.series, writer.uint32(/* id 5, wireType 2 =*/42).fork(), _depth + 1).ldelim();
                if (message.file != null && $Object.hasOwnProperty.call(message, "file"))
                    $root.serving.v1.File.encode(message.file, writer.uint32(/* id 6, wireType 2 =*/50).fork(), _depth + 1).ldelim();
                if (message.text != null && $Object.hasOwnProperty.call(message, "text"))
                    $root.google.protobuf.StringValue.encode(message.text, writer.uint32(/* id 7, wireType 2 =*/58).fork(), _depth + 1).ldelim();
                if (message.json != null && $Object.hasOwnProperty.call(message, "json"))
                    $root.google.protobuf.Value.encode(message.json, writer.uint32(/* id 8, wireType 2 =*/66).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Part message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.Part
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.Part & serving.v1.Part.$Shape} Part
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Part.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.Part();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.ndarray = $root.serving.v1.NDArray.decode(reader, reader.size(), $undefined, _depth + 1, message.ndarray);
                            message.representation = "ndarray";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.dataframe = $root.serving.v1.DataFrame.decode(reader, reader.size(), $undefined, _depth + 1, message.dataframe);
                            message.representation = "dataframe";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.series = $root.serving.v1.Series.decode(reader, reader.size(), $undefined, _depth + 1, message.series);
                            message.representation = "series";
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.file = $root.serving.v1.File.decode(reader, reader.size(), $undefined, _depth + 1, message.file);
                            message.representation = "file";
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            message.text = $root.google.protobuf.StringValue.decode(reader, reader.size(), $undefined, _depth + 1, message.text);
                            message.representation = "text";
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            message.json = $root.google.protobuf.Value.decode(reader, reader.size(), $undefined, _depth + 1, message.json);
                            message.representation = "json";
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.serializedBytes = reader.bytes();
                            message.representation = "serializedBytes";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Part;
        })();

        v1.Multipart = (function() {

            /**
             * Properties of a Multipart.
             * @typedef {Object} serving.v1.Multipart.$Properties
             * @property {Object.<string,serving.v1.Part.$Properties>|null} [fields] Multipart fields
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Multipart.
             * @memberof serving.v1
             * @interface IMultipart
             * @augments serving.v1.Multipart.$Properties
             * @deprecated Use serving.v1.Multipart.$Properties instead.
             */

            /**
             * Shape of a Multipart.
             * @typedef {{
             *   fields?: Object.<string,serving.v1.Part.$Shape>|null;
             *   $unknowns?: Array.<Uint8Array>;
             * }} serving.v1.Multipart.$Shape
             */

            /**
             * Constructs a new Multipart.
             * @memberof serving.v1
             * @classdesc Represents a Multipart.
             * @constructor
             * @param {serving.v1.Multipart.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Multipart = function (properties) {
                this.fields = {};
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Multipart fields.
             * @member {Object.<string,serving.v1.Part.$Properties>} fields
             * @memberof serving.v1.Multipart
             * @instance
             */
            Multipart.prototype.fields = $util.emptyObject;

            /**
             * Creates a new Multipart instance using the specified properties.
             * @function create
             * @memberof serving.v1.Multipart
             * @static
             * @param {serving.v1.Multipart.$Properties=} [properties] Properties to set
             * @returns {serving.v1.Multipart} Multipart instance
             * @type {{
             *   (properties: serving.v1.Multipart.$Shape): serving.v1.Multipart & serving.v1.Multipart.$Shape;
             *   (properties?: serving.v1.Multipart.$Properties): serving.v1.Multipart;
             * }}
             */
            Multipart.create = function(properties) {
                return new Multipart(properties);
            };

            /**
             * Encodes the specified Multipart message. Does not implicitly {@link serving.v1.Multipart.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.Multipart
             * @static
             * @param {serving.v1.Multipart.$Properties} message Multipart message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Multipart.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.fields != null && $Object.hasOwnProperty.call(message, "fields"))
                    for (let keys = $Object.keys(message.fields), i = 0; i < keys.length; ++i) {
                        writer.uint32(/* id 1, wireType 2 =*/10).fork().uint32(/* id 1, wireType 2 =*/10).string(keys[i]);
                        $root.serving.v1.Part.encode(message.fields[keys[i]], writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim().ldelim();
                    }
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Multipart message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.Multipart
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.Multipart & serving.v1.Multipart.$Shape} Multipart
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Multipart.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, key, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.Multipart();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (message.fields === $util.emptyObject)
                                message.fields = {};
                            let end2 = reader.size() + reader.pos;
                            if (end2 > reader.len)
                                throw $RangeError("index out of range");
                            reader.len = end2;
                            key = "";
                            value = null;
                            while (reader.pos < end2) {
                                let tag2 = reader.tag();
                                wireType = tag2 & 7;
                                switch (tag2 >>>= 3) {
                                case 1:
                                    if (wireType !== 2)
                                        break;
                                    key = reader.stringVerify();
                                    continue;
                                case 2:
                                    if (wireType !== 2)
                                        break;
                                    value = $root.serving.v1.Part.decode(reader, reader.size(), $undefined, _depth + 1, value);
                                    continue;
                                }
                                reader.skipType(wireType, _depth, tag2);
                            }
                            if (reader.pos !== end2)
                                throw $RangeError("index out of range");
                            reader.len = end;
                            if (key === "__proto__")
                                $util.makeProp(message.fields, key);
                            message.fields[key] = value || new $root.serving.v1.Part();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Multipart;
        })();

        v1.File = (function() {

            /**
             * Properties of a File.
             * @typedef {Object} serving.v1.File.$Properties
             * @property {string|null} [kind] File kind
             * @property {Uint8Array|null} [content] File content
             * @property {string|null} [name] File name
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a File.
             * @memberof serving.v1
             * @interface IFile
             * @augments serving.v1.File.$Properties
             * @deprecated Use serving.v1.File.$Properties instead.
             */

            /**
             * Shape of a File.
             * @typedef {serving.v1.File.$Properties} serving.v1.File.$Shape
             */

            /**
             * Constructs a new File.
             * @memberof serving.v1
             * @classdesc Represents a File.
             * @constructor
             * @param {serving.v1.File.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const File = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * File kind.
             * @member {string|null|undefined} kind
             * @memberof serving.v1.File
             * @instance
             */
            File.prototype.kind = null;

            /**
             * File content.
             * @member {Uint8Array} content
             * @memberof serving.v1.File
             * @instance
             */
            File.prototype.content = $util.newBuffer([]);

            /**
             * File name.
             * @member {string|null|undefined} name
             * @memberof serving.v1.File
             * @instance
             */
            File.prototype.name = null;

            // OneOf field names bound to virtual getters and setters
            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(File.prototype, "_kind", {
                get: $util.oneOfGetter($oneOfFields = ["kind"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(File.prototype, "_name", {
                get: $util.oneOfGetter($oneOfFields = ["name"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            /**
             * Creates a new File instance using the specified properties.
             * @function create
             * @memberof serving.v1.File
             * @static
             * @param {serving.v1.File.$Properties=} [properties] Properties to set
             * @returns {serving.v1.File} File instance
             * @type {{
             *   (properties: serving.v1.File.$Shape): serving.v1.File & serving.v1.File.$Shape;
             *   (properties?: serving.v1.File.$Properties): serving.v1.File;
             * }}
             */
            File.create = function(properties) {
                return new File(properties);
            };

            /**
             * Encodes the specified File message. Does not implicitly {@link serving.v1.File.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.File
             * @static
             * @param {serving.v1.File.$Properties} message File message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            File.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.content != null && $Object.hasOwnProperty.call(message, "content") && message.content.length)
                    writer.uint32(/* id 2, wireType 2 =*/18).bytes(message.content);
                if (message.kind != null && $Object.hasOwnProperty.call(message, "kind"))
                    writer.uint32(/* id 3, wireType 2 =*/26).string(message.kind);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    writer.uint32(/* id 4, wireType 2 =*/34).string(message.name);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a File message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.File
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.File & serving.v1.File.$Shape} File
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            File.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.File();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.kind = reader.stringVerify();
                            message._kind = "kind";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.content = value;
                            else
                                delete message.content;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.name = reader.stringVerify();
                            message._name = "name";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return File;
        })();

        v1.NDArray = (function() {

            /**
             * Properties of a NDArray.
             * @typedef {Object} serving.v1.NDArray.$Properties
             * @property {serving.v1.NDArray.DType|null} [dtype] NDArray dtype
             * @property {Array.<number>|null} [shape] NDArray shape
             * @property {Array.<number>|null} [floatValues] NDArray floatValues
             * @property {Array.<number>|null} [doubleValues] NDArray doubleValues
             * @property {Array.<string>|null} [stringValues] NDArray stringValues
             * @property {Array.<boolean>|null} [boolValues] NDArray boolValues
             * @property {Array.<number>|null} [int32Values] NDArray int32Values
             * @property {Array.<number|Long>|null} [int64Values] NDArray int64Values
             * @property {Array.<number>|null} [uint32Values] NDArray uint32Values
             * @property {Array.<number|Long>|null} [uint64Values] NDArray uint64Values
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a NDArray.
             * @memberof serving.v1
             * @interface INDArray
             * @augments serving.v1.NDArray.$Properties
             * @deprecated Use serving.v1.NDArray.$Properties instead.
             */

            /**
             * Shape of a NDArray.
             * @typedef {serving.v1.NDArray.$Properties} serving.v1.NDArray.$Shape
             */

            /**
             * Constructs a new NDArray.
             * @memberof serving.v1
             * @classdesc Represents a NDArray.
             * @constructor
             * @param {serving.v1.NDArray.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const NDArray = function (properties) {
                this.shape = [];
                this.floatValues = [];
                this.doubleValues = [];
                this.stringValues = [];
                this.boolValues = [];
                this.int32Values = [];
                this.int64Values = [];
                this.uint32Values = [];
                this.uint64Values = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * NDArray dtype.
             * @member {serving.v1.NDArray.DType} dtype
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.dtype = 0;

            /**
             * NDArray shape.
             * @member {Array.<number>} shape
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.shape = $util.emptyArray;

            /**
             * NDArray floatValues.
             * @member {Array.<number>} floatValues
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.floatValues = $util.emptyArray;

            /**
             * NDArray doubleValues.
             * @member {Array.<number>} doubleValues
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.doubleValues = $util.emptyArray;

            /**
             * NDArray stringValues.
             * @member {Array.<string>} stringValues
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.stringValues = $util.emptyArray;

            /**
             * NDArray boolValues.
             * @member {Array.<boolean>} boolValues
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.boolValues = $util.emptyArray;

            /**
             * NDArray int32Values.
             * @member {Array.<number>} int32Values
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.int32Values = $util.emptyArray;

            /**
             * NDArray int64Values.
             * @member {Array.<number|Long>} int64Values
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.int64Values = $util.emptyArray;

            /**
             * NDArray uint32Values.
             * @member {Array.<number>} uint32Values
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.uint32Values = $util.emptyArray;

            /**
             * NDArray uint64Values.
             * @member {Array.<number|Long>} uint64Values
             * @memberof serving.v1.NDArray
             * @instance
             */
            NDArray.prototype.uint64Values = $util.emptyArray;

            /**
             * Creates a new NDArray instance using the specified properties.
             * @function create
             * @memberof serving.v1.NDArray
             * @static
             * @param {serving.v1.NDArray.$Properties=} [properties] Properties to set
             * @returns {serving.v1.NDArray} NDArray instance
             * @type {{
             *   (properties: serving.v1.NDArray.$Shape): serving.v1.NDArray & serving.v1.NDArray.$Shape;
             *   (properties?: serving.v1.NDArray.$Properties): serving.v1.NDArray;
             * }}
             */
            NDArray.create = function(properties) {
                return new NDArray(properties);
            };

            /**
             * Encodes the specified NDArray message. Does not implicitly {@link serving.v1.NDArray.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.NDArray
             * @static
             * @param {serving.v1.NDArray.$Properties} message NDArray message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            NDArray.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.dtype != null && $Object.hasOwnProperty.call(message, "dtype") && message.dtype !== 0)
                    writer.uint32(/* id 1, wireType 0 =*/8).int32(message.dtype);
                if (message.shape != null && message.shape.length)
                    writer.uint32(/* id 2, wireType 2 =*/18).int32s(message.shape);
                if (message.floatValues != null && message.floatValues.length)
                    writer.uint32(/* id 3, wireType 2 =*/26).floats(message.floatValues);
                if (message.doubleValues != null && message.doubleValues.length)
                    writer.uint32(/* id 4, wireType 2 =*/34).doubles(message.doubleValues);
                if (message.stringValues != null && message.stringValues.length)
                    for (let i = 0; i < message.stringValues.length; ++i)
                        writer.uint32(/* id 5, wireType 2 =*/42).string(message.stringValues[i]);
                if (message.boolValues != null && message.boolValues.length)
                    writer.uint32(/* id 6, wireType 2 =*/50).bools(message.boolValues);
                if (message.int32Values != null && message.int32Values.length)
                    writer.uint32(/* id 7, wireType 2 =*/58).int32s(message.int32Values);
                if (message.int64Values != null && message.int64Values.length)
                    writer.uint32(/* id 8, wireType 2 =*/66).int64s(message.int64Values);
                if (message.uint32Values != null && message.uint32Values.length)
                    writer.uint32(/* id 9, wireType 2 =*/74).uint32s(message.uint32Values);
                if (message.uint64Values != null && message.uint64Values.length)
                    writer.uint32(/* id 10, wireType 2 =*/82).uint64s(message.uint64Values);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a NDArray message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.NDArray
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.NDArray & serving.v1.NDArray.$Shape} NDArray
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            NDArray.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.NDArray();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.dtype = value;
                            else
                                delete message.dtype;
                            continue;
                        }
                    case 2: {
                            if (wireType === 2) {
                                if (!(message.shape && message.shape.length))
                                    message.shape = [];
                                reader.int32s(message.shape);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.shape && message.shape.length))
                                message.shape = [];
                            message.shape.push(reader.int32());
                            continue;
                        }
                    case 3: {
                            if (wireType === 2) {
                                if (!(message.floatValues && message.floatValues.length))
                                    message.floatValues = [];
                                reader.floats(message.floatValues);
                                continue;
                            }
                            if (wireType !== 5)
                                break;
                            if (!(message.floatValues && message.floatValues.length))
                                message.floatValues = [];
                            message.floatValues.push(reader.float());
                            continue;
                        }
                    case 4: {
                            if (wireType === 2) {
                                if (!(message.doubleValues && message.doubleValues.length))
                                    message.doubleValues = [];
                                reader.doubles(message.doubleValues);
                                continue;
                            }
                            if (wireType !== 1)
                                break;
                            if (!(message.doubleValues && message.doubleValues.length))
                                message.doubleValues = [];
                            message.doubleValues.push(reader.double());
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if (!(message.stringValues && message.stringValues.length))
                                message.stringValues = [];
                            message.stringValues.push(reader.stringVerify());
                            continue;
                        }
                    case 6: {
                            if (wireType === 2) {
                                if (!(message.boolValues && message.boolValues.length))
                                    message.boolValues = [];
                                reader.bools(message.boolValues);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.boolValues && message.boolValues.length))
                                message.boolValues = [];
                            message.boolValues.push(reader.bool());
                            continue;
                        }
                    case 7: {
                            if (wireType === 2) {
                                if (!(message.int32Values && message.int32Values.length))
                                    message.int32Values = [];
                                reader.int32s(message.int32Values);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.int32Values && message.int32Values.length))
                                message.int32Values = [];
                            message.int32Values.push(reader.int32());
                            continue;
                        }
                    case 8: {
                            if (wireType === 2) {
                                if (!(message.int64Values && message.int64Values.length))
                                    message.int64Values = [];
                                reader.int64s(message.int64Values);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.int64Values && message.int64Values.length))
                                message.int64Values = [];
                            message.int64Values.push(reader.int64());
                            continue;
                        }
                    case 9: {
                            if (wireType === 2) {
                                if (!(message.uint32Values && message.uint32Values.length))
                                    message.uint32Values = [];
                                reader.uint32s(message.uint32Values);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.uint32Values && message.uint32Values.length))
                                message.uint32Values = [];
                            message.uint32Values.push(reader.uint32());
                            continue;
                        }
                    case 10: {
                            if (wireType === 2) {
                                if (!(message.uint64Values && message.uint64Values.length))
                                    message.uint64Values = [];
                                reader.uint64s(message.uint64Values);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.uint64Values && message.uint64Values.length))
                                message.uint64Values = [];
                            message.uint64Values.push(reader.uint64());
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            /**
             * DType enum.
             * @name serving.v1.NDArray.DType
             * @enum {number}
             * @property {number} DTYPE_UNSPECIFIED=0 DTYPE_UNSPECIFIED value
             * @property {number} DTYPE_FLOAT=1 DTYPE_FLOAT value
             * @property {number} DTYPE_DOUBLE=2 DTYPE_DOUBLE value
             * @property {number} DTYPE_BOOL=3 DTYPE_BOOL value
             * @property {number} DTYPE_INT32=4 DTYPE_INT32 value
             * @property {number} DTYPE_INT64=5 DTYPE_INT64 value
             * @property {number} DTYPE_UINT32=6 DTYPE_UINT32 value
             * @property {number} DTYPE_UINT64=7 DTYPE_UINT64 value
             * @property {number} DTYPE_STRING=8 DTYPE_STRING value
             */
            NDArray.DType = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "DTYPE_UNSPECIFIED"] = 0;
                values[valuesById[1] = "DTYPE_FLOAT"] = 1;
                values[valuesById[2] = "DTYPE_DOUBLE"] = 2;
                values[valuesById[3] = "DTYPE_BOOL"] = 3;
                values[valuesById[4] = "DTYPE_INT32"] = 4;
                values[valuesById[5] = "DTYPE_INT64"] = 5;
                values[valuesById[6] = "DTYPE_UINT32"] = 6;
                values[valuesById[7] = "DTYPE_UINT64"] = 7;
                values[valuesById[8] = "DTYPE_STRING"] = 8;
                return values;
            })();

            return NDArray;
        })();

        v1.Series = (function() {

            /**
             * Properties of a Series.
             * @typedef {Object} serving.v1.Series.$Properties
             * @property {Array.<boolean>|null} [boolValues] Series boolValues
             * @property {Array.<number>|null} [floatValues] Series floatValues
             * @property {Array.<number>|null} [int32Values] Series int32Values
             * @property {Array.<number>|null} [doubleValues] Series doubleValues
             * @property {Array.<string>|null} [stringValues] Series stringValues
             * @property {Array.<number|Long>|null} [int64Values] Series int64Values
             * @property {Array.<number>|null} [uint32Values] Series uint32Values
             * @property {Array.<number|Long>|null} [uint64Values] Series uint64Values
             * @property {Array.<number>|null} [nullPositions] Series nullPositions
             * @property {serving.v1.Series.$Properties|null} [index] Series index
             * @property {string|null} [name] Series name
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Series.
             * @memberof serving.v1
             * @interface ISeries
             * @augments serving.v1.Series.$Properties
             * @deprecated Use serving.v1.Series.$Properties instead.
             */

            /**
             * Shape of a Series.
             * @typedef {serving.v1.Series.$Properties} serving.v1.Series.$Shape
             */

            /**
             * Constructs a new Series.
             * @memberof serving.v1
             * @classdesc Represents a Series.
             * @constructor
             * @param {serving.v1.Series.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Series = function (properties) {
                this.boolValues = [];
                this.floatValues = [];
                this.int32Values = [];
                this.doubleValues = [];
                this.stringValues = [];
                this.int64Values = [];
                this.uint32Values = [];
                this.uint64Values = [];
                this.nullPositions = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Series boolValues.
             * @member {Array.<boolean>} boolValues
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.boolValues = $util.emptyArray;

            /**
             * Series floatValues.
             * @member {Array.<number>} floatValues
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.floatValues = $util.emptyArray;

            /**
             * Series int32Values.
             * @member {Array.<number>} int32Values
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.int32Values = $util.emptyArray;

            /**
             * Series doubleValues.
             * @member {Array.<number>} doubleValues
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.doubleValues = $util.emptyArray;

            /**
             * Series stringValues.
             * @member {Array.<string>} stringValues
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.stringValues = $util.emptyArray;

            /**
             * Series int64Values.
             * @member {Array.<number|Long>} int64Values
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.int64Values = $util.emptyArray;

            /**
             * Series uint32Values.
             * @member {Array.<number>} uint32Values
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.uint32Values = $util.emptyArray;

            /**
             * Series uint64Values.
             * @member {Array.<number|Long>} uint64Values
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.uint64Values = $util.emptyArray;

            /**
             * Series nullPositions.
             * @member {Array.<number>} nullPositions
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.nullPositions = $util.emptyArray;

            /**
             * Series index.
             * @member {serving.v1.Series.$Properties|null|undefined} index
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.index = null;

            /**
             * Series name.
             * @member {string|null|undefined} name
             * @memberof serving.v1.Series
             * @instance
             */
            Series.prototype.name = null;

            // OneOf field names bound to virtual getters and setters
            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(Series.prototype, "_name", {
                get: $util.oneOfGetter($oneOfFields = ["name"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            /**
             * Creates a new Series instance using the specified properties.
             * @function create
             * @memberof serving.v1.Series
             * @static
             * @param {serving.v1.Series.$Properties=} [properties] Properties to set
             * @returns {serving.v1.Series} Series instance
             * @type {{
             *   (properties: serving.v1.Series.$Shape): serving.v1.Series & serving.v1.Series.$Shape;
             *   (properties?: serving.v1.Series.$Properties): serving.v1.Series;
             * }}
             */
            Series.create = function(properties) {
                return new Series(properties);
            };

            /**
             * Encodes the specified Series message. Does not implicitly {@link serving.v1.Series.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.Series
             * @static
             * @param {serving.v1.Series.$Properties} message Series message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Series.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.boolValues != null && message.boolValues.length)
                    writer.uint32(/* id 1, wireType 2 =*/10).bools(message.boolValues);
                if (message.floatValues != null && message.floatValues.length)
                    writer.uint32(/* id 2, wireType 2 =*/18).floats(message.floatValues);
                if (message.int32Values != null && message.int32Values.length)
                    writer.uint32(/* id 3, wireType 2 =*/26).int32s(message.int32Values);
                if (message.doubleValues != null && message.doubleValues.length)
                    writer.uint32(/* id 4, wireType 2 =*/34).doubles(message.doubleValues);
                if (message.stringValues != null && message.stringValues.length)
                    for (let i = 0; i < message.stringValues.length; ++i)
                        writer.uint32(/* id 5, wireType 2 =*/42).string(message.stringValues[i]);
                if (message.int64Values != null && message.int64Values.length)
                    writer.uint32(/* id 6, wireType 2 =*/50).int64s(message.int64Values);
                if (message.uint32Values != null && message.uint32Values.length)
                    writer.uint32(/* id 7, wireType 2 =*/58).uint32s(message.uint32Values);
                if (message.uint64Values != null && message.uint64Values.length)
                    writer.uint32(/* id 8, wireType 2 =*/66).uint64s(message.uint64Values);
                if (message.nullPositions != null && message.nullPositions.length)
                    writer.uint32(/* id 9, wireType 2 =*/74).uint32s(message.nullPositions);
                if (message.index != null && $Object.hasOwnProperty.call(message, "index"))
                    $root.serving.v1.Series.encode(message.index, writer.uint32(/* id 10, wireType 2 =*/82).fork(), _depth + 1).ldelim();
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    writer.uint32(/* id 11, wireType 2 =*/90).string(message.name);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Series message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.Series
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.Series & serving.v1.Series.$Shape} Series
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Series.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.Series();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType === 2) {
                                if (!(message.boolValues && message.boolValues.length))
                                    message.boolValues = [];
                                reader.bools(message.boolValues);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.boolValues && message.boolValues.length))
                                message.boolValues = [];
                            message.boolValues.push(reader.bool());
                            continue;
                        }
                    case 2: {
                            if (wireType === 2) {
                                if (!(message.floatValues && message.floatValues.length))
                                    message.floatValues = [];
                                reader.floats(message.floatValues);
                                continue;
                            }
                            if (wireType !== 5)
                                break;
                            if (!(message.floatValues && message.floatValues.length))
                                message.floatValues = [];
                            message.floatValues.push(reader.float());
                            continue;
                        }
                    case 3: {
                            if (wireType === 2) {
                                if (!(message.int32Values && message.int32Values.length))
                                    message.int32Values = [];
                                reader.int32s(message.int32Values);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.int32Values && message.int32Values.length))
                                message.int32Values = [];
                            message.int32Values.push(reader.int32());
                            continue;
                        }
                    case 4: {
                            if (wireType === 2) {
                                if (!(message.doubleValues && message.doubleValues.length))
                                    message.doubleValues = [];
                                reader.doubles(message.doubleValues);
                                continue;
                            }
                            if (wireType !== 1)
                                break;
                            if (!(message.doubleValues && message.doubleValues.length))
                                message.doubleValues = [];
                            message.doubleValues.push(reader.double());
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if (!(message.stringValues && message.stringValues.length))
                                message.stringValues = [];
                            message.stringValues.push(reader.stringVerify());
                            continue;
                        }
                    case 6: {
                            if (wireType === 2) {
                                if (!(message.int64Values && message.int64Values.length))
                                    message.int64Values = [];
                                reader.int64s(message.int64Values);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.int64Values && message.int64Values.length))
                                message.int64Values = [];
                            message.int64Values.push(reader.int64());
                            continue;
                        }
                    case 7: {
                            if (wireType === 2) {
                                if (!(message.uint32Values && message.uint32Values.length))
                                    message.uint32Values = [];
                                reader.uint32s(message.uint32Values);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.uint32Values && message.uint32Values.length))
                                message.uint32Values = [];
                            message.uint32Values.push(reader.uint32());
                            continue;
                        }
                    case 8: {
                            if (wireType === 2) {
                                if (!(message.uint64Values && message.uint64Values.length))
                                    message.uint64Values = [];
                                reader.uint64s(message.uint64Values);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.uint64Values && message.uint64Values.length))
                                message.uint64Values = [];
                            message.uint64Values.push(reader.uint64());
                            continue;
                        }
                    case 9: {
                            if (wireType === 2) {
                                if (!(message.nullPositions && message.nullPositions.length))
                                    message.nullPositions = [];
                                reader.uint32s(message.nullPositions);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.nullPositions && message.nullPositions.length))
                                message.nullPositions = [];
                            message.nullPositions.push(reader.uint32());
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            message.index = $root.serving.v1.Series.decode(reader, reader.size(), $undefined, _depth + 1, message.index);
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            message.name = reader.stringVerify();
                            message._name = "name";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Series;
        })();

        v1.DataFrame = (function() {

            /**
             * Properties of a DataFrame.
             * @typedef {Object} serving.v1.DataFrame.$Properties
             * @property {Array.<string>|null} [columnNames] DataFrame columnNames
             * @property {Array.<serving.v1.Series.$Properties>|null} [columns] DataFrame columns
             * @property {serving.v1.Series.$Properties|null} [index] DataFrame index
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a DataFrame.
             * @memberof serving.v1
             * @interface IDataFrame
             * @augments serving.v1.DataFrame.$Properties
             * @deprecated Use serving.v1.DataFrame.$Properties instead.
             */

            /**
             * Shape of a DataFrame.
             * @typedef {serving.v1.DataFrame.$Properties} serving.v1.DataFrame.$Shape
             */

            /**
             * Constructs a new DataFrame.
             * @memberof serving.v1
             * @classdesc Represents a DataFrame.
             * @constructor
             * @param {serving.v1.DataFrame.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const DataFrame = function (properties) {
                this.columnNames = [];
                this.columns = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * DataFrame columnNames.
             * @member {Array.<string>} columnNames
             * @memberof serving.v1.DataFrame
             * @instance
             */
            DataFrame.prototype.columnNames = $util.emptyArray;

            /**
             * DataFrame columns.
             * @member {Array.<serving.v1.Series.$Properties>} columns
             * @memberof serving.v1.DataFrame
             * @instance
             */
            DataFrame.prototype.columns = $util.emptyArray;

            /**
             * DataFrame index.
             * @member {serving.v1.Series.$Properties|null|undefined} index
             * @memberof serving.v1.DataFrame
             * @instance
             */
            DataFrame.prototype.index = null;

            /**
             * Creates a new DataFrame instance using the specified properties.
             * @function create
             * @memberof serving.v1.DataFrame
             * @static
             * @param {serving.v1.DataFrame.$Properties=} [properties] Properties to set
             * @returns {serving.v1.DataFrame} DataFrame instance
             * @type {{
             *   (properties: serving.v1.DataFrame.$Shape): serving.v1.DataFrame & serving.v1.DataFrame.$Shape;
             *   (properties?: serving.v1.DataFrame.$Properties): serving.v1.DataFrame;
             * }}
             */
            DataFrame.create = function(properties) {
                return new DataFrame(properties);
            };

            /**
             * Encodes the specified DataFrame message. Does not implicitly {@link serving.v1.DataFrame.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.DataFrame
             * @static
             * @param {serving.v1.DataFrame.$Properties} message DataFrame message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            DataFrame.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.columnNames != null && message.columnNames.length)
                    for (let i = 0; i < message.columnNames.length; ++i)
                        writer.uint32(/* id 1, wireType 2 =*/10).string(message.columnNames[i]);
                if (message.columns != null && message.columns.length)
                    for (let i = 0; i < message.columns.length; ++i)
                        $root.serving.v1.Series.encode(message.columns[i], writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                if (message.index != null && $Object.hasOwnProperty.call(message, "index"))
                    $root.serving.v1.Series.encode(message.index, writer.uint32(/* id 3, wireType 2 =*/26).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a DataFrame message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.DataFrame
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.DataFrame & serving.v1.DataFrame.$Shape} DataFrame
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            DataFrame.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.DataFrame();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (!(message.columnNames && message.columnNames.length))
                                message.columnNames = [];
                            message.columnNames.push(reader.stringVerify());
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.columns && message.columns.length))
                                message.columns = [];
                            message.columns.push($root.serving.v1.Series.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.index = $root.serving.v1.Series.decode(reader, reader.size(), $undefined, _depth + 1, message.index);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return DataFrame;
        })();

        v1.ServiceMetadataRequest = (function() {

            /**
             * Properties of a ServiceMetadataRequest.
             * @typedef {Object} serving.v1.ServiceMetadataRequest.$Properties
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a ServiceMetadataRequest.
             * @memberof serving.v1
             * @interface IServiceMetadataRequest
             * @augments serving.v1.ServiceMetadataRequest.$Properties
             * @deprecated Use serving.v1.ServiceMetadataRequest.$Properties instead.
             */

            /**
             * Shape of a ServiceMetadataRequest.
             * @typedef {serving.v1.ServiceMetadataRequest.$Properties} serving.v1.ServiceMetadataRequest.$Shape
             */

            /**
             * Constructs a new ServiceMetadataRequest.
             * @memberof serving.v1
             * @classdesc Represents a ServiceMetadataRequest.
             * @constructor
             * @param {serving.v1.ServiceMetadataRequest.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const ServiceMetadataRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Creates a new ServiceMetadataRequest instance using the specified properties.
             * @function create
             * @memberof serving.v1.ServiceMetadataRequest
             * @static
             * @param {serving.v1.ServiceMetadataRequest.$Properties=} [properties] Properties to set
             * @returns {serving.v1.ServiceMetadataRequest} ServiceMetadataRequest instance
             * @type {{
             *   (properties: serving.v1.ServiceMetadataRequest.$Shape): serving.v1.ServiceMetadataRequest & serving.v1.ServiceMetadataRequest.$Shape;
             *   (properties?: serving.v1.ServiceMetadataRequest.$Properties): serving.v1.ServiceMetadataRequest;
             * }}
             */
            ServiceMetadataRequest.create = function(properties) {
                return new ServiceMetadataRequest(properties);
            };

            /**
             * Encodes the specified ServiceMetadataRequest message. Does not implicitly {@link serving.v1.ServiceMetadataRequest.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.ServiceMetadataRequest
             * @static
             * @param {serving.v1.ServiceMetadataRequest.$Properties} message ServiceMetadataRequest message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            ServiceMetadataRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a ServiceMetadataRequest message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.ServiceMetadataRequest
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.ServiceMetadataRequest & serving.v1.ServiceMetadataRequest.$Shape} ServiceMetadataRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            ServiceMetadataRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.ServiceMetadataRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    reader.skipType(tag & 7, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return ServiceMetadataRequest;
        })();

        v1.ServiceMetadataResponse = (function() {

            /**
             * Properties of a ServiceMetadataResponse.
             * @typedef {Object} serving.v1.ServiceMetadataResponse.$Properties
             * @property {string|null} [name] ServiceMetadataResponse name
             * @property {Array.<serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties>|null} [apis] ServiceMetadataResponse apis
             * @property {string|null} [docs] ServiceMetadataResponse docs
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a ServiceMetadataResponse.
             * @memberof serving.v1
             * @interface IServiceMetadataResponse
             * @augments serving.v1.ServiceMetadataResponse.$Properties
             * @deprecated Use serving.v1.ServiceMetadataResponse.$Properties instead.
             */

            /**
             * Shape of a ServiceMetadataResponse.
             * @typedef {{
             *   name?: string|null;
             *   apis?: Array.<serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape>|null;
             *   docs?: string|null;
             *   $unknowns?: Array.<Uint8Array>;
             * }} serving.v1.ServiceMetadataResponse.$Shape
             */

            /**
             * Constructs a new ServiceMetadataResponse.
             * @memberof serving.v1
             * @classdesc Represents a ServiceMetadataResponse.
             * @constructor
             * @param {serving.v1.ServiceMetadataResponse.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const ServiceMetadataResponse = function (properties) {
                this.apis = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * ServiceMetadataResponse name.
             * @member {string} name
             * @memberof serving.v1.ServiceMetadataResponse
             * @instance
             */
            ServiceMetadataResponse.prototype.name = "";

            /**
             * ServiceMetadataResponse apis.
             * @member {Array.<serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties>} apis
             * @memberof serving.v1.ServiceMetadataResponse
             * @instance
             */
            ServiceMetadataResponse.prototype.apis = $util.emptyArray;

            /**
             * ServiceMetadataResponse docs.
             * @member {string} docs
             * @memberof serving.v1.ServiceMetadataResponse
             * @instance
             */
            ServiceMetadataResponse.prototype.docs = "";

            /**
             * Creates a new ServiceMetadataResponse instance using the specified properties.
             * @function create
             * @memberof serving.v1.ServiceMetadataResponse
             * @static
             * @param {serving.v1.ServiceMetadataResponse.$Properties=} [properties] Properties to set
             * @returns {serving.v1.ServiceMetadataResponse} ServiceMetadataResponse instance
             * @type {{
             *   (properties: serving.v1.ServiceMetadataResponse.$Shape): serving.v1.ServiceMetadataResponse & serving.v1.ServiceMetadataResponse.$Shape;
             *   (properties?: serving.v1.ServiceMetadataResponse.$Properties): serving.v1.ServiceMetadataResponse;
             * }}
             */
            ServiceMetadataResponse.create = function(properties) {
                return new ServiceMetadataResponse(properties);
            };

            /**
             * Encodes the specified ServiceMetadataResponse message. Does not implicitly {@link serving.v1.ServiceMetadataResponse.verify|verify} messages.
             * @function encode
             * @memberof serving.v1.ServiceMetadataResponse
             * @static
             * @param {serving.v1.ServiceMetadataResponse.$Properties} message ServiceMetadataResponse message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            ServiceMetadataResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(/* id 1, wireType 2 =*/10).string(message.name);
                if (message.apis != null && message.apis.length)
                    for (let i = 0; i < message.apis.length; ++i)
                        $root.serving.v1.ServiceMetadataResponse.InferenceAPI.encode(message.apis[i], writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                if (message.docs != null && $Object.hasOwnProperty.call(message, "docs") && message.docs !== "")
                    writer.uint32(/* id 3, wireType 2 =*/26).string(message.docs);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a ServiceMetadataResponse message from the specified reader or buffer.
             * @function decode
             * @memberof serving.v1.ServiceMetadataResponse
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {serving.v1.ServiceMetadataResponse & serving.v1.ServiceMetadataResponse.$Shape} ServiceMetadataResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            ServiceMetadataResponse.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.serving.v1.ServiceMetadataResponse();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.apis && message.apis.length))
                                message.apis = [];
                            message.apis.push($root.serving.v1.ServiceMetadataResponse.InferenceAPI.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.docs = value;
                            else
                                delete message.docs;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ServiceMetadataResponse.DescriptorMetadata = (function() {

                /**
                 * Properties of a DescriptorMetadata.
                 * @typedef {Object} serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties
                 * @property {string|null} [descriptorId] DescriptorMetadata descriptorId
                 * @property {google.protobuf.Struct.$Properties|null} [attributes] DescriptorMetadata attributes
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */

                /**
                 * Properties of a DescriptorMetadata.
                 * @memberof serving.v1.ServiceMetadataResponse
                 * @interface IDescriptorMetadata
                 * @augments serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties
                 * @deprecated Use serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties instead.
                 */

                /**
                 * Shape of a DescriptorMetadata.
                 * @typedef {{
                 *   descriptorId?: string|null;
                 *   attributes?: google.protobuf.Struct.$Shape|null;
                 *   $unknowns?: Array.<Uint8Array>;
                 * }} serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape
                 */

                /**
                 * Constructs a new DescriptorMetadata.
                 * @memberof serving.v1.ServiceMetadataResponse
                 * @classdesc Represents a DescriptorMetadata.
                 * @constructor
                 * @param {serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties=} [properties] Properties to set
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */
                const DescriptorMetadata = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                /**
                 * DescriptorMetadata descriptorId.
                 * @member {string|null|undefined} descriptorId
                 * @memberof serving.v1.ServiceMetadataResponse.DescriptorMetadata
                 * @instance
                 */
                DescriptorMetadata.prototype.descriptorId = null;

                /**
                 * DescriptorMetadata attributes.
                 * @member {google.protobuf.Struct.$Properties|null|undefined} attributes
                 * @memberof serving.v1.ServiceMetadataResponse.DescriptorMetadata
                 * @instance
                 */
                DescriptorMetadata.prototype.attributes = null;

                // OneOf field names bound to virtual getters and setters
                let $oneOfFields;

                // Virtual OneOf for proto3 optional field
                $Object.defineProperty(DescriptorMetadata.prototype, "_descriptorId", {
                    get: $util.oneOfGetter($oneOfFields = ["descriptorId"]),
                    set: $util.oneOfSetter($oneOfFields)
                });

                /**
                 * Creates a new DescriptorMetadata instance using the specified properties.
                 * @function create
                 * @memberof serving.v1.ServiceMetadataResponse.DescriptorMetadata
                 * @static
                 * @param {serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties=} [properties] Properties to set
                 * @returns {serving.v1.ServiceMetadataResponse.DescriptorMetadata} DescriptorMetadata instance
                 * @type {{
                 *   (properties: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape): serving.v1.ServiceMetadataResponse.DescriptorMetadata & serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape;
                 *   (properties?: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties): serving.v1.ServiceMetadataResponse.DescriptorMetadata;
                 * }}
                 */
                DescriptorMetadata.create = function(properties) {
                    return new DescriptorMetadata(properties);
                };

                /**
                 * Encodes the specified DescriptorMetadata message. Does not implicitly {@link serving.v1.ServiceMetadataResponse.DescriptorMetadata.verify|verify} messages.
                 * @function encode
                 * @memberof serving.v1.ServiceMetadataResponse.DescriptorMetadata
                 * @static
                 * @param {serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties} message DescriptorMetadata message or plain object to encode
                 * @param {$protobuf.Writer} [writer] Writer to encode to
                 * @returns {$protobuf.Writer} Writer
                 */
                DescriptorMetadata.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.descriptorId != null && $Object.hasOwnProperty.call(message, "descriptorId"))
                        writer.uint32(/* id 1, wireType 2 =*/10).string(message.descriptorId);
                    if (message.attributes != null && $Object.hasOwnProperty.call(message, "attributes"))
                        $root.google.protobuf.Struct.encode(message.attributes, writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                /**
                 * Decodes a DescriptorMetadata message from the specified reader or buffer.
                 * @function decode
                 * @memberof serving.v1.ServiceMetadataResponse.DescriptorMetadata
                 * @static
                 * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                 * @param {number} [length] Message length if known beforehand
                 * @returns {serving.v1.ServiceMetadataResponse.DescriptorMetadata & serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape} DescriptorMetadata
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                DescriptorMetadata.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.serving.v1.ServiceMetadataResponse.DescriptorMetadata();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        let wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                message.descriptorId = reader.stringVerify();
                                message._descriptorId = "descriptorId";
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                message.attributes = $root.google.protobuf.Struct.decode(reader, reader.size(), $undefined, _depth + 1, message.attributes);
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return DescriptorMetadata;
            })();

            ServiceMetadataResponse.InferenceAPI = (function() {

                /**
                 * Properties of an InferenceAPI.
                 * @typedef {Object} serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties
                 * @property {string|null} [name] InferenceAPI name
                 * @property {serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties|null} [input] InferenceAPI input
                 * @property {serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties|null} [output] InferenceAPI output
                 * @property {string|null} [docs] InferenceAPI docs
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */

                /**
                 * Properties of an InferenceAPI.
                 * @memberof serving.v1.ServiceMetadataResponse
                 * @interface IInferenceAPI
                 * @augments serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties
                 * @deprecated Use serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties instead.
                 */

                /**
                 * Shape of an InferenceAPI.
                 * @typedef {{
                 *   name?: string|null;
                 *   input?: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape|null;
                 *   output?: serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Shape|null;
                 *   docs?: string|null;
                 *   $unknowns?: Array.<Uint8Array>;
                 * }} serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape
                 */

                /**
                 * Constructs a new InferenceAPI.
                 * @memberof serving.v1.ServiceMetadataResponse
                 * @classdesc Represents an InferenceAPI.
                 * @constructor
                 * @param {serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties=} [properties] Properties to set
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */
                const InferenceAPI = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                /**
                 * InferenceAPI name.
                 * @member {string} name
                 * @memberof serving.v1.ServiceMetadataResponse.InferenceAPI
                 * @instance
                 */
                InferenceAPI.prototype.name = "";

                /**
                 * InferenceAPI input.
                 * @member {serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties|null|undefined} input
                 * @memberof serving.v1.ServiceMetadataResponse.InferenceAPI
                 * @instance
                 */
                InferenceAPI.prototype.input = null;

                /**
                 * InferenceAPI output.
                 * @member {serving.v1.ServiceMetadataResponse.DescriptorMetadata.$Properties|null|undefined} output
                 * @memberof serving.v1.ServiceMetadataResponse.InferenceAPI
                 * @instance
                 */
                InferenceAPI.prototype.output = null;

                /**
                 * InferenceAPI docs.
                 * @member {string|null|undefined} docs
                 * @memberof serving.v1.ServiceMetadataResponse.InferenceAPI
                 * @instance
                 */
                InferenceAPI.prototype.docs = null;

                // OneOf field names bound to virtual getters and setters
                let $oneOfFields;

                // Virtual OneOf for proto3 optional field
                $Object.defineProperty(InferenceAPI.prototype, "_input", {
                    get: $util.oneOfGetter($oneOfFields = ["input"]),
                    set: $util.oneOfSetter($oneOfFields)
                });

                // Virtual OneOf for proto3 optional field
                $Object.defineProperty(InferenceAPI.prototype, "_output", {
                    get: $util.oneOfGetter($oneOfFields = ["output"]),
                    set: $util.oneOfSetter($oneOfFields)
                });

                // Virtual OneOf for proto3 optional field
                $Object.defineProperty(InferenceAPI.prototype, "_docs", {
                    get: $util.oneOfGetter($oneOfFields = ["docs"]),
                    set: $util.oneOfSetter($oneOfFields)
                });

                /**
                 * Creates a new InferenceAPI instance using the specified properties.
                 * @function create
                 * @memberof serving.v1.ServiceMetadataResponse.InferenceAPI
                 * @static
                 * @param {serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties=} [properties] Properties to set
                 * @returns {serving.v1.ServiceMetadataResponse.InferenceAPI} InferenceAPI instance
                 * @type {{
                 *   (properties: serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape): serving.v1.ServiceMetadataResponse.InferenceAPI & serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape;
                 *   (properties?: serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties): serving.v1.ServiceMetadataResponse.InferenceAPI;
                 * }}
                 */
                InferenceAPI.create = function(properties) {
                    return new InferenceAPI(properties);
                };

                /**
                 * Encodes the specified InferenceAPI message. Does not implicitly {@link serving.v1.ServiceMetadataResponse.InferenceAPI.verify|verify} messages.
                 * @function encode
                 * @memberof serving.v1.ServiceMetadataResponse.InferenceAPI
                 * @static
                 * @param {serving.v1.ServiceMetadataResponse.InferenceAPI.$Properties} message InferenceAPI message or plain object to encode
                 * @param {$protobuf.Writer} [writer] Writer to encode to
                 * @returns {$protobuf.Writer} Writer
                 */
                InferenceAPI.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                        writer.uint32(/* id 1, wireType 2 =*/10).string(message.name);
                    if (message.input != null && $Object.hasOwnProperty.call(message, "input"))
                        $root.serving.v1.ServiceMetadataResponse.DescriptorMetadata.encode(message.input, writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                    if (message.output != null && $Object.hasOwnProperty.call(message, "output"))
                        $root.serving.v1.ServiceMetadataResponse.DescriptorMetadata.encode(message.output, writer.uint32(/* id 3, wireType 2 =*/26).fork(), _depth + 1).ldelim();
                    if (message.docs != null && $Object.hasOwnProperty.call(message, "docs"))
                        writer.uint32(/* id 4, wireType 2 =*/34).string(message.docs);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                /**
                 * Decodes an InferenceAPI message from the specified reader or buffer.
                 * @function decode
                 * @memberof serving.v1.ServiceMetadataResponse.InferenceAPI
                 * @static
                 * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                 * @param {number} [length] Message length if known beforehand
                 * @returns {serving.v1.ServiceMetadataResponse.InferenceAPI & serving.v1.ServiceMetadataResponse.InferenceAPI.$Shape} InferenceAPI
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                InferenceAPI.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.serving.v1.ServiceMetadataResponse.InferenceAPI();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        let wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.name = value;
                                else
                                    delete message.name;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                message.input = $root.serving.v1.ServiceMetadataResponse.DescriptorMetadata.decode(reader, reader.size(), $undefined, _depth + 1, message.input);
                                message._input = "input";
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                message.output = $root.serving.v1.ServiceMetadataResponse.DescriptorMetadata.decode(reader, reader.size(), $undefined, _depth + 1, message.output);
                                message._output = "output";
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                message.docs = reader.stringVerify();
                                message._docs = "docs";
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return InferenceAPI;
            })();

            return ServiceMetadataResponse;
        })();

        return v1;
    })();

    return serving;
})();

export const google = $root.google = (() => {

    /**
     * Namespace google.
     * @exports google
     * @namespace
     */
    const google = {};

    google.protobuf = (function() {

        /**
         * Namespace protobuf.
         * @memberof google
         * @namespace
         */
        const protobuf = {};

        protobuf.Struct = (function() {

            /**
             * Properties of a Struct.
             * @typedef {Object} google.protobuf.Struct.$Properties
             * @property {Object.<string,google.protobuf.Value.$Properties>|null} [fields] Struct fields
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Struct.
             * @memberof google.protobuf
             * @interface IStruct
             * @augments google.protobuf.Struct.$Properties
             * @deprecated Use google.protobuf.Struct.$Properties instead.
             */

            /**
             * Shape of a Struct.
             * @typedef {{
             *   fields?: Object.<string,google.protobuf.Value.$Shape>|null;
             *   $unknowns?: Array.<Uint8Array>;
             * }} google.protobuf.Struct.$Shape
             */

            /**
             * Constructs a new Struct.
             * @memberof google.protobuf
             * @classdesc Represents a Struct.
             * @constructor
             * @param {google.protobuf.Struct.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Struct = function (properties) {
                this.fields = {};
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Struct fields.
             * @member {Object.<string,google.protobuf.Value.$Properties>} fields
             * @memberof google.protobuf.Struct
             * @instance
             */
            Struct.prototype.fields = $util.emptyObject;

            /**
             * Creates a new Struct instance using the specified properties.
             * @function create
             * @memberof google.protobuf.Struct
             * @static
             * @param {google.protobuf.Struct.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.Struct} Struct instance
             * @type {{
             *   (properties: google.protobuf.Struct.$Shape): google.protobuf.Struct & google.protobuf.Struct.$Shape;
             *   (properties?: google.protobuf.Struct.$Properties): google.protobuf.Struct;
             * }}
             */
            Struct.create = function(properties) {
                return new Struct(properties);
            };

            /**
             * Encodes the specified Struct message. Does not implicitly {@link google.protobuf.Struct.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.Struct
             * @static
             * @param {google.protobuf.Struct.$Properties} message Struct message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Struct.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.fields != null && $Object.hasOwnProperty.call(message, "fields"))
                    for (let keys = $Object.keys(message.fields), i = 0; i < keys.length; ++i) {
                        writer.uint32(/* id 1, wireType 2 =*/10).fork().uint32(/* id 1, wireType 2 =*/10).string(keys[i]);
                        $root.google.protobuf.Value.encode(message.fields[keys[i]], writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim().ldelim();
                    }
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Struct message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.Struct
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.Struct & google.protobuf.Struct.$Shape} Struct
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Struct.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, key, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.Struct();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (message.fields === $util.emptyObject)
                                message.fields = {};
                            let end2 = reader.size() + reader.pos;
                            if (end2 > reader.len)
                                throw $RangeError("index out of range");
                            reader.len = end2;
                            key = "";
                            value = null;
                            while (reader.pos < end2) {
                                let tag2 = reader.tag();
                                wireType = tag2 & 7;
                                switch (tag2 >>>= 3) {
                                case 1:
                                    if (wireType !== 2)
                                        break;
                                    key = reader.stringVerify();
                                    continue;
                                case 2:
                                    if (wireType !== 2)
                                        break;
                                    value = $root.google.protobuf.Value.decode(reader, reader.size(), $undefined, _depth + 1, value);
                                    continue;
                                }
                                reader.skipType(wireType, _depth, tag2);
                            }
                            if (reader.pos !== end2)
                                throw $RangeError("index out of range");
                            reader.len = end;
                            if (key === "__proto__")
                                $util.makeProp(message.fields, key);
                            message.fields[key] = value || new $root.google.protobuf.Value();
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Struct;
        })();

        protobuf.Value = (function() {

            /**
             * Properties of a Value.
             * @typedef {Object} google.protobuf.Value.$Properties
             * @property {google.protobuf.NullValue|null} [nullValue] Value nullValue
             * @property {number|null} [numberValue] Value numberValue
             * @property {string|null} [stringValue] Value stringValue
             * @property {boolean|null} [boolValue] Value boolValue
             * @property {google.protobuf.Struct.$Properties|null} [structValue] Value structValue
             * @property {google.protobuf.ListValue.$Properties|null} [listValue] Value listValue
             * @property {"nullValue"|"numberValue"|"stringValue"|"boolValue"|"structValue"|"listValue"} [kind] Value kind
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Value.
             * @memberof google.protobuf
             * @interface IValue
             * @augments google.protobuf.Value.$Properties
             * @deprecated Use google.protobuf.Value.$Properties instead.
             */

            /**
             * Narrowed shape of a Value.
             * @typedef {{
             *   nullValue?: google.protobuf.NullValue|null;
             *   numberValue?: number|null;
             *   stringValue?: string|null;
             *   boolValue?: boolean|null;
             *   structValue?: google.protobuf.Struct.$Shape|null;
             *   listValue?: google.protobuf.ListValue.$Shape|null;
             *   $unknowns?: Array.<Uint8Array>;
             * } & (
             *   ({ kind?: undefined; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "nullValue"; nullValue: google.protobuf.NullValue; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "numberValue"; nullValue?: null; numberValue: number; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "stringValue"; nullValue?: null; numberValue?: null; stringValue: string; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "boolValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue: boolean; structValue?: null; listValue?: null }|{ kind?: "structValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue: google.protobuf.Struct.$Shape; listValue?: null }|{ kind?: "listValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue: google.protobuf.ListValue.$Shape })
             * )} google.protobuf.Value.$Shape
             */

            /**
             * Constructs a new Value.
             * @memberof google.protobuf
             * @classdesc Represents a Value.
             * @constructor
             * @param {google.protobuf.Value.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Value = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Value nullValue.
             * @member {google.protobuf.NullValue|null|undefined} nullValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.nullValue = null;

            /**
             * Value numberValue.
             * @member {number|null|undefined} numberValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.numberValue = null;

            /**
             * Value stringValue.
             * @member {string|null|undefined} stringValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.stringValue = null;

            /**
             * Value boolValue.
             * @member {boolean|null|undefined} boolValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.boolValue = null;

            /**
             * Value structValue.
             * @member {google.protobuf.Struct.$Properties|null|undefined} structValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.structValue = null;

            /**
             * Value listValue.
             * @member {google.protobuf.ListValue.$Properties|null|undefined} listValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.listValue = null;

            // OneOf field names bound to virtual getters and setters
            let $oneOfFields;

            /**
             * Value kind.
             * @member {"nullValue"|"numberValue"|"stringValue"|"boolValue"|"structValue"|"listValue"|undefined} kind
             * @memberof google.protobuf.Value
             * @instance
             */
            $Object.defineProperty(Value.prototype, "kind", {
                get: $util.oneOfGetter($oneOfFields = ["nullValue", "numberValue", "stringValue", "boolValue", "structValue", "listValue"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            /**
             * Creates a new Value instance using the specified properties.
             * @function create
             * @memberof google.protobuf.Value
             * @static
             * @param {google.protobuf.Value.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.Value} Value instance
             * @type {{
             *   (properties: google.protobuf.Value.$Shape): google.protobuf.Value & google.protobuf.Value.$Shape;
             *   (properties?: google.protobuf.Value.$Properties): google.protobuf.Value;
             * }}
             */
            Value.create = function(properties) {
                return new Value(properties);
            };

            /**
             * Encodes the specified Value message. Does not implicitly {@link google.protobuf.Value.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.Value
             * @static
             * @param {google.protobuf.Value.$Properties} message Value message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Value.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.nullValue != null && $Object.hasOwnProperty.call(message, "nullValue"))
                    writer.uint32(/* id 1, wireType 0 =*/8).int32(message.nullValue);
                if (message.numberValue != null && $Object.hasOwnProperty.call(message, "numberValue"))
                    writer.uint32(/* id 2, wireType 1 =*/17).double(message.numberValue);
                if (message.stringValue != null && $Object.hasOwnProperty.call(message, "stringValue"))
                    writer.uint32(/* id 3, wireType 2 =*/26).string(message.stringValue);
                if (message.boolValue != null && $Object.hasOwnProperty.call(message, "boolValue"))
                    writer.uint32(/* id 4, wireType 0 =*/32).bool(message.boolValue);
                if (message.structValue != null && $Object.hasOwnProperty.call(message, "structValue"))
                    $root.google.protobuf.Struct.encode(message.structValue, writer.uint32(/* id 5, wireType 2 =*/42).fork(), _depth + 1).ldelim();
                if (message.listValue != null && $Object.hasOwnProperty.call(message, "listValue"))
                    $root.google.protobuf.ListValue.encode(message.listValue, writer.uint32(/* id 6, wireType 2 =*/50).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Value message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.Value
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.Value & google.protobuf.Value.$Shape} Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Value.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.Value();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            message.nullValue = reader.int32();
                            message.kind = "nullValue";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 1)
                                break;
                            message.numberValue = reader.double();
                            message.kind = "numberValue";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.stringValue = reader.stringVerify();
                            message.kind = "stringValue";
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            message.boolValue = reader.bool();
                            message.kind = "boolValue";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.structValue = $root.google.protobuf.Struct.decode(reader, reader.size(), $undefined, _depth + 1, message.structValue);
                            message.kind = "structValue";
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.listValue = $root.google.protobuf.ListValue.decode(reader, reader.size(), $undefined, _depth + 1, message.listValue);
                            message.kind = "listValue";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Value;
        })();

        /**
         * NullValue enum.
         * @name google.protobuf.NullValue
         * @enum {number}
         * @property {number} NULL_VALUE=0 NULL_VALUE value
         */
        protobuf.NullValue = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "NULL_VALUE"] = 0;
            return values;
        })();

        protobuf.ListValue = (function() {

            /**
             * Properties of a ListValue.
             * @typedef {Object} google.protobuf.ListValue.$Properties
             * @property {Array.<google.protobuf.Value.$Properties>|null} [values] ListValue values
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a ListValue.
             * @memberof google.protobuf
             * @interface IListValue
             * @augments google.protobuf.ListValue.$Properties
             * @deprecated Use google.protobuf.ListValue.$Properties instead.
             */

            /**
             * Shape of a ListValue.
             * @typedef {{
             *   values?: Array.<google.protobuf.Value.$Shape>|null;
             *   $unknowns?: Array.<Uint8Array>;
             * }} google.protobuf.ListValue.$Shape
             */

            /**
             * Constructs a new ListValue.
             * @memberof google.protobuf
             * @classdesc Represents a ListValue.
             * @constructor
             * @param {google.protobuf.ListValue.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const ListValue = function (properties) {
                this.values = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * ListValue values.
             * @member {Array.<google.protobuf.Value.$Properties>} values
             * @memberof google.protobuf.ListValue
             * @instance
             */
            ListValue.prototype.values = $util.emptyArray;

            /**
             * Creates a new ListValue instance using the specified properties.
             * @function create
             * @memberof google.protobuf.ListValue
             * @static
             * @param {google.protobuf.ListValue.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.ListValue} ListValue instance
             * @type {{
             *   (properties: google.protobuf.ListValue.$Shape): google.protobuf.ListValue & google.protobuf.ListValue.$Shape;
             *   (properties?: google.protobuf.ListValue.$Properties): google.protobuf.ListValue;
             * }}
             */
            ListValue.create = function(properties) {
                return new ListValue(properties);
            };

            /**
             * Encodes the specified ListValue message. Does not implicitly {@link google.protobuf.ListValue.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.ListValue
             * @static
             * @param {google.protobuf.ListValue.$Properties} message ListValue message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            ListValue.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.values != null && message.values.length)
                    for (let i = 0; i < message.values.length; ++i)
                        $root.google.protobuf.Value.encode(message.values[i], writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a ListValue message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.ListValue
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.ListValue & google.protobuf.ListValue.$Shape} ListValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            ListValue.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.ListValue();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (!(message.values && message.values.length))
                                message.values = [];
                            message.values.push($root.google.protobuf.Value.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return ListValue;
        })();

        protobuf.DoubleValue = (function() {

            /**
             * Properties of a DoubleValue.
             * @typedef {Object} google.protobuf.DoubleValue.$Properties
             * @property {number|null} [value] DoubleValue value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a DoubleValue.
             * @memberof google.protobuf
             * @interface IDoubleValue
             * @augments google.protobuf.DoubleValue.$Properties
             * @deprecated Use google.protobuf.DoubleValue.$Properties instead.
             */

            /**
             * Shape of a DoubleValue.
             * @typedef {google.protobuf.DoubleValue.$Properties} google.protobuf.DoubleValue.$Shape
             */

            /**
             * Constructs a new DoubleValue.
             * @memberof google.protobuf
             * @classdesc Represents a DoubleValue.
             * @constructor
             * @param {google.protobuf.DoubleValue.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const DoubleValue = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * DoubleValue value.
             * @member {number} value
             * @memberof google.protobuf.DoubleValue
             * @instance
             */
            DoubleValue.prototype.value = 0;

            /**
             * Creates a new DoubleValue instance using the specified properties.
             * @function create
             * @memberof google.protobuf.DoubleValue
             * @static
             * @param {google.protobuf.DoubleValue.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.DoubleValue} DoubleValue instance
             * @type {{
             *   (properties: google.protobuf.DoubleValue.$Shape): google.protobuf.DoubleValue & google.protobuf.DoubleValue.$Shape;
             *   (properties?: google.protobuf.DoubleValue.$Properties): google.protobuf.DoubleValue;
             * }}
             */
            DoubleValue.create = function(properties) {
                return new DoubleValue(properties);
            };

            /**
             * Encodes the specified DoubleValue message. Does not implicitly {@link google.protobuf.DoubleValue.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.DoubleValue
             * @static
             * @param {google.protobuf.DoubleValue.$Properties} message DoubleValue message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            DoubleValue.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && !$Object.is(message.value, 0))
                    writer.uint32(/* id 1, wireType 1 =*/9).double(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a DoubleValue message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.DoubleValue
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.DoubleValue & google.protobuf.DoubleValue.$Shape} DoubleValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            DoubleValue.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.DoubleValue();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 1)
                                break;
                            if (!$Object.is(value = reader.double(), 0))
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return DoubleValue;
        })();

        protobuf.FloatValue = (function() {

            /**
             * Properties of a FloatValue.
             * @typedef {Object} google.protobuf.FloatValue.$Properties
             * @property {number|null} [value] FloatValue value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a FloatValue.
             * @memberof google.protobuf
             * @interface IFloatValue
             * @augments google.protobuf.FloatValue.$Properties
             * @deprecated Use google.protobuf.FloatValue.$Properties instead.
             */

            /**
             * Shape of a FloatValue.
             * @typedef {google.protobuf.FloatValue.$Properties} google.protobuf.FloatValue.$Shape
             */

            /**
             * Constructs a new FloatValue.
             * @memberof google.protobuf
             * @classdesc Represents a FloatValue.
             * @constructor
             * @param {google.protobuf.FloatValue.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const FloatValue = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * FloatValue value.
             * @member {number} value
             * @memberof google.protobuf.FloatValue
             * @instance
             */
            FloatValue.prototype.value = 0;

            /**
             * Creates a new FloatValue instance using the specified properties.
             * @function create
             * @memberof google.protobuf.FloatValue
             * @static
             * @param {google.protobuf.FloatValue.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.FloatValue} FloatValue instance
             * @type {{
             *   (properties: google.protobuf.FloatValue.$Shape): google.protobuf.FloatValue & google.protobuf.FloatValue.$Shape;
             *   (properties?: google.protobuf.FloatValue.$Properties): google.protobuf.FloatValue;
             * }}
             */
            FloatValue.create = function(properties) {
                return new FloatValue(properties);
            };

            /**
             * Encodes the specified FloatValue message. Does not implicitly {@link google.protobuf.FloatValue.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.FloatValue
             * @static
             * @param {google.protobuf.FloatValue.$Properties} message FloatValue message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            FloatValue.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && !$Object.is(message.value, 0))
                    writer.uint32(/* id 1, wireType 5 =*/13).float(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a FloatValue message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.FloatValue
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.FloatValue & google.protobuf.FloatValue.$Shape} FloatValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            FloatValue.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.FloatValue();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 5)
                                break;
                            if (!$Object.is(value = reader.float(), 0))
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return FloatValue;
        })();

        protobuf.Int64Value = (function() {

            /**
             * Properties of an Int64Value.
             * @typedef {Object} google.protobuf.Int64Value.$Properties
             * @property {number|Long|null} [value] Int64Value value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of an Int64Value.
             * @memberof google.protobuf
             * @interface IInt64Value
             * @augments google.protobuf.Int64Value.$Properties
             * @deprecated Use google.protobuf.Int64Value.$Properties instead.
             */

            /**
             * Shape of an Int64Value.
             * @typedef {google.protobuf.Int64Value.$Properties} google.protobuf.Int64Value.$Shape
             */

            /**
             * Constructs a new Int64Value.
             * @memberof google.protobuf
             * @classdesc Represents an Int64Value.
             * @constructor
             * @param {google.protobuf.Int64Value.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Int64Value = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Int64Value value.
             * @member {number|Long} value
             * @memberof google.protobuf.Int64Value
             * @instance
             */
            Int64Value.prototype.value = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

            /**
             * Creates a new Int64Value instance using the specified properties.
             * @function create
             * @memberof google.protobuf.Int64Value
             * @static
             * @param {google.protobuf.Int64Value.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.Int64Value} Int64Value instance
             * @type {{
             *   (properties: google.protobuf.Int64Value.$Shape): google.protobuf.Int64Value & google.protobuf.Int64Value.$Shape;
             *   (properties?: google.protobuf.Int64Value.$Properties): google.protobuf.Int64Value;
             * }}
             */
            Int64Value.create = function(properties) {
                return new Int64Value(properties);
            };

            /**
             * Encodes the specified Int64Value message. Does not implicitly {@link google.protobuf.Int64Value.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.Int64Value
             * @static
             * @param {google.protobuf.Int64Value.$Properties} message Int64Value message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Int64Value.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && (typeof message.value === "object" ? message.value.low || message.value.high : message.value !== 0))
                    writer.uint32(/* id 1, wireType 0 =*/8).int64(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes an Int64Value message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.Int64Value
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.Int64Value & google.protobuf.Int64Value.$Shape} Int64Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Int64Value.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.Int64Value();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Int64Value;
        })();

        protobuf.UInt64Value = (function() {

            /**
             * Properties of a UInt64Value.
             * @typedef {Object} google.protobuf.UInt64Value.$Properties
             * @property {number|Long|null} [value] UInt64Value value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a UInt64Value.
             * @memberof google.protobuf
             * @interface IUInt64Value
             * @augments google.protobuf.UInt64Value.$Properties
             * @deprecated Use google.protobuf.UInt64Value.$Properties instead.
             */

            /**
             * Shape of a UInt64Value.
             * @typedef {google.protobuf.UInt64Value.$Properties} google.protobuf.UInt64Value.$Shape
             */

            /**
             * Constructs a new UInt64Value.
             * @memberof google.protobuf
             * @classdesc Represents a UInt64Value.
             * @constructor
             * @param {google.protobuf.UInt64Value.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const UInt64Value = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * UInt64Value value.
             * @member {number|Long} value
             * @memberof google.protobuf.UInt64Value
             * @instance
             */
            UInt64Value.prototype.value = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            /**
             * Creates a new UInt64Value instance using the specified properties.
             * @function create
             * @memberof google.protobuf.UInt64Value
             * @static
             * @param {google.protobuf.UInt64Value.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.UInt64Value} UInt64Value instance
             * @type {{
             *   (properties: google.protobuf.UInt64Value.$Shape): google.protobuf.UInt64Value & google.protobuf.UInt64Value.$Shape;
             *   (properties?: google.protobuf.UInt64Value.$Properties): google.protobuf.UInt64Value;
             * }}
             */
            UInt64Value.create = function(properties) {
                return new UInt64Value(properties);
            };

            /**
             * Encodes the specified UInt64Value message. Does not implicitly {@link google.protobuf.UInt64Value.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.UInt64Value
             * @static
             * @param {google.protobuf.UInt64Value.$Properties} message UInt64Value message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            UInt64Value.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && (typeof message.value === "object" ? message.value.low || message.value.high : message.value !== 0))
                    writer.uint32(/* id 1, wireType 0 =*/8).uint64(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a UInt64Value message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.UInt64Value
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.UInt64Value & google.protobuf.UInt64Value.$Shape} UInt64Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            UInt64Value.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.UInt64Value();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return UInt64Value;
        })();

        protobuf.Int32Value = (function() {

            /**
             * Properties of an Int32Value.
             * @typedef {Object} google.protobuf.Int32Value.$Properties
             * @property {number|null} [value] Int32Value value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of an Int32Value.
             * @memberof google.protobuf
             * @interface IInt32Value
             * @augments google.protobuf.Int32Value.$Properties
             * @deprecated Use google.protobuf.Int32Value.$Properties instead.
             */

            /**
             * Shape of an Int32Value.
             * @typedef {google.protobuf.Int32Value.$Properties} google.protobuf.Int32Value.$Shape
             */

            /**
             * Constructs a new Int32Value.
             * @memberof google.protobuf
             * @classdesc Represents an Int32Value.
             * @constructor
             * @param {google.protobuf.Int32Value.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Int32Value = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Int32Value value.
             * @member {number} value
             * @memberof google.protobuf.Int32Value
             * @instance
             */
            Int32Value.prototype.value = 0;

            /**
             * Creates a new Int32Value instance using the specified properties.
             * @function create
             * @memberof google.protobuf.Int32Value
             * @static
             * @param {google.protobuf.Int32Value.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.Int32Value} Int32Value instance
             * @type {{
             *   (properties: google.protobuf.Int32Value.$Shape): google.protobuf.Int32Value & google.protobuf.Int32Value.$Shape;
             *   (properties?: google.protobuf.Int32Value.$Properties): google.protobuf.Int32Value;
             * }}
             */
            Int32Value.create = function(properties) {
                return new Int32Value(properties);
            };

            /**
             * Encodes the specified Int32Value message. Does not implicitly {@link google.protobuf.Int32Value.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.Int32Value
             * @static
             * @param {google.protobuf.Int32Value.$Properties} message Int32Value message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Int32Value.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && message.value !== 0)
                    writer.uint32(/* id 1, wireType 0 =*/8).int32(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes an Int32Value message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.Int32Value
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.Int32Value & google.protobuf.Int32Value.$Shape} Int32Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Int32Value.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.Int32Value();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Int32Value;
        })();

        protobuf.UInt32Value = (function() {

            /**
             * Properties of a UInt32Value.
             * @typedef {Object} google.protobuf.UInt32Value.$Properties
             * @property {number|null} [value] UInt32Value value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a UInt32Value.
             * @memberof google.protobuf
             * @interface IUInt32Value
             * @augments google.protobuf.UInt32Value.$Properties
             * @deprecated Use google.protobuf.UInt32Value.$Properties instead.
             */

            /**
             * Shape of a UInt32Value.
             * @typedef {google.protobuf.UInt32Value.$Properties} google.protobuf.UInt32Value.$Shape
             */

            /**
             * Constructs a new UInt32Value.
             * @memberof google.protobuf
             * @classdesc Represents a UInt32Value.
             * @constructor
             * @param {google.protobuf.UInt32Value.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const UInt32Value = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * UInt32Value value.
             * @member {number} value
             * @memberof google.protobuf.UInt32Value
             * @instance
             */
            UInt32Value.prototype.value = 0;

            /**
             * Creates a new UInt32Value instance using the specified properties.
             * @function create
             * @memberof google.protobuf.UInt32Value
             * @static
             * @param {google.protobuf.UInt32Value.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.UInt32Value} UInt32Value instance
             * @type {{
             *   (properties: google.protobuf.UInt32Value.$Shape): google.protobuf.UInt32Value & google.protobuf.UInt32Value.$Shape;
             *   (properties?: google.protobuf.UInt32Value.$Properties): google.protobuf.UInt32Value;
             * }}
             */
            UInt32Value.create = function(properties) {
                return new UInt32Value(properties);
            };

            /**
             * Encodes the specified UInt32Value message. Does not implicitly {@link google.protobuf.UInt32Value.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.UInt32Value
             * @static
             * @param {google.protobuf.UInt32Value.$Properties} message UInt32Value message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            UInt32Value.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && message.value !== 0)
                    writer.uint32(/* id 1, wireType 0 =*/8).uint32(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a UInt32Value message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.UInt32Value
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.UInt32Value & google.protobuf.UInt32Value.$Shape} UInt32Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            UInt32Value.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.UInt32Value();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return UInt32Value;
        })();

        protobuf.BoolValue = (function() {

            /**
             * Properties of a BoolValue.
             * @typedef {Object} google.protobuf.BoolValue.$Properties
             * @property {boolean|null} [value] BoolValue value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a BoolValue.
             * @memberof google.protobuf
             * @interface IBoolValue
             * @augments google.protobuf.BoolValue.$Properties
             * @deprecated Use google.protobuf.BoolValue.$Properties instead.
             */

            /**
             * Shape of a BoolValue.
             * @typedef {google.protobuf.BoolValue.$Properties} google.protobuf.BoolValue.$Shape
             */

            /**
             * Constructs a new BoolValue.
             * @memberof google.protobuf
             * @classdesc Represents a BoolValue.
             * @constructor
             * @param {google.protobuf.BoolValue.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const BoolValue = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * BoolValue value.
             * @member {boolean} value
             * @memberof google.protobuf.BoolValue
             * @instance
             */
            BoolValue.prototype.value = false;

            /**
             * Creates a new BoolValue instance using the specified properties.
             * @function create
             * @memberof google.protobuf.BoolValue
             * @static
             * @param {google.protobuf.BoolValue.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.BoolValue} BoolValue instance
             * @type {{
             *   (properties: google.protobuf.BoolValue.$Shape): google.protobuf.BoolValue & google.protobuf.BoolValue.$Shape;
             *   (properties?: google.protobuf.BoolValue.$Properties): google.protobuf.BoolValue;
             * }}
             */
            BoolValue.create = function(properties) {
                return new BoolValue(properties);
            };

            /**
             * Encodes the specified BoolValue message. Does not implicitly {@link google.protobuf.BoolValue.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.BoolValue
             * @static
             * @param {google.protobuf.BoolValue.$Properties} message BoolValue message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            BoolValue.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && message.value !== false)
                    writer.uint32(/* id 1, wireType 0 =*/8).bool(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a BoolValue message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.BoolValue
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.BoolValue & google.protobuf.BoolValue.$Shape} BoolValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            BoolValue.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.BoolValue();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.bool())
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return BoolValue;
        })();

        protobuf.StringValue = (function() {

            /**
             * Properties of a StringValue.
             * @typedef {Object} google.protobuf.StringValue.$Properties
             * @property {string|null} [value] StringValue value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a StringValue.
             * @memberof google.protobuf
             * @interface IStringValue
             * @augments google.protobuf.StringValue.$Properties
             * @deprecated Use google.protobuf.StringValue.$Properties instead.
             */

            /**
             * Shape of a StringValue.
             * @typedef {google.protobuf.StringValue.$Properties} google.protobuf.StringValue.$Shape
             */

            /**
             * Constructs a new StringValue.
             * @memberof google.protobuf
             * @classdesc Represents a StringValue.
             * @constructor
             * @param {google.protobuf.StringValue.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const StringValue = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * StringValue value.
             * @member {string} value
             * @memberof google.protobuf.StringValue
             * @instance
             */
            StringValue.prototype.value = "";

            /**
             * Creates a new StringValue instance using the specified properties.
             * @function create
             * @memberof google.protobuf.StringValue
             * @static
             * @param {google.protobuf.StringValue.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.StringValue} StringValue instance
             * @type {{
             *   (properties: google.protobuf.StringValue.$Shape): google.protobuf.StringValue & google.protobuf.StringValue.$Shape;
             *   (properties?: google.protobuf.StringValue.$Properties): google.protobuf.StringValue;
             * }}
             */
            StringValue.create = function(properties) {
                return new StringValue(properties);
            };

            /**
             * Encodes the specified StringValue message. Does not implicitly {@link google.protobuf.StringValue.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.StringValue
             * @static
             * @param {google.protobuf.StringValue.$Properties} message StringValue message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            StringValue.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && message.value !== "")
                    writer.uint32(/* id 1, wireType 2 =*/10).string(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a StringValue message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.StringValue
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.StringValue & google.protobuf.StringValue.$Shape} StringValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            StringValue.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.StringValue();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return StringValue;
        })();

        protobuf.BytesValue = (function() {

            /**
             * Properties of a BytesValue.
             * @typedef {Object} google.protobuf.BytesValue.$Properties
             * @property {Uint8Array|null} [value] BytesValue value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a BytesValue.
             * @memberof google.protobuf
             * @interface IBytesValue
             * @augments google.protobuf.BytesValue.$Properties
             * @deprecated Use google.protobuf.BytesValue.$Properties instead.
             */

            /**
             * Shape of a BytesValue.
             * @typedef {google.protobuf.BytesValue.$Properties} google.protobuf.BytesValue.$Shape
             */

            /**
             * Constructs a new BytesValue.
             * @memberof google.protobuf
             * @classdesc Represents a BytesValue.
             * @constructor
             * @param {google.protobuf.BytesValue.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const BytesValue = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * BytesValue value.
             * @member {Uint8Array} value
             * @memberof google.protobuf.BytesValue
             * @instance
             */
            BytesValue.prototype.value = $util.newBuffer([]);

            /**
             * Creates a new BytesValue instance using the specified properties.
             * @function create
             * @memberof google.protobuf.BytesValue
             * @static
             * @param {google.protobuf.BytesValue.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.BytesValue} BytesValue instance
             * @type {{
             *   (properties: google.protobuf.BytesValue.$Shape): google.protobuf.BytesValue & google.protobuf.BytesValue.$Shape;
             *   (properties?: google.protobuf.BytesValue.$Properties): google.protobuf.BytesValue;
             * }}
             */
            BytesValue.create = function(properties) {
                return new BytesValue(properties);
            };

            /**
             * Encodes the specified BytesValue message. Does not implicitly {@link google.protobuf.BytesValue.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.BytesValue
             * @static
             * @param {google.protobuf.BytesValue.$Properties} message BytesValue message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            BytesValue.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && message.value.length)
                    writer.uint32(/* id 1, wireType 2 =*/10).bytes(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a BytesValue message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.BytesValue
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.BytesValue & google.protobuf.BytesValue.$Shape} BytesValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            BytesValue.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.BytesValue();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return BytesValue;
        })();

        return protobuf;
    })();

    return google;
})();

export {
  $root as default
};
