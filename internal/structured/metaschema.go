package structured

import (
	"strings"
	"sync"

	"github.com/clichain/clichain/internal/jsontext"
)

// dialects maps $schema, without its scheme and a final "#", to the drafts that the basic checker supports.
var dialects = map[string]string{
	"json-schema.org/draft/2020-12/schema": draft2020,
	"json-schema.org/draft-07/schema":      draft7,
}

const draft2020, draft7 = "2020-12", "07"

// dialectOf returns the draft that $schema names, "" if the basic checker does not support it.
func dialectOf(name string) string {
	rest, ok := strings.CutPrefix(name, "http://")
	if !ok {
		rest, ok = strings.CutPrefix(name, "https://")
	}
	if !ok {
		return ""
	}
	return dialects[strings.TrimSuffix(rest, "#")]
}

// metaSchema is the schema of the schemas that the basic checker accepts.
const metaSchema = `{"type": ["object", "boolean"], "properties": {
	"$schema": {"type": "string"}, "$id": {"type": "string"}, "$comment": {"type": "string"}, "$ref": {"type": "string"},
	"$defs": {"$ref": "#/$defs/named"}, "definitions": {"$ref": "#/$defs/named"},
	"type": {"anyOf": [
		{"$ref": "#/$defs/type"}, {"type": "array", "items": {"$ref": "#/$defs/type"}, "minItems": 1, "uniqueItems": true}]},
	"enum": {"type": "array"},
	"properties": {"$ref": "#/$defs/named"}, "additionalProperties": {"$ref": "#"}, "items": {"$ref": "#"},
	"required": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
	"allOf": {"$ref": "#/$defs/list"}, "anyOf": {"$ref": "#/$defs/list"}, "oneOf": {"$ref": "#/$defs/list"},
	"not": {"$ref": "#"}, "uniqueItems": {"type": "boolean"}, "pattern": {"type": "string"},
	"minLength": {"$ref": "#/$defs/size"}, "maxLength": {"$ref": "#/$defs/size"},
	"minItems": {"$ref": "#/$defs/size"}, "maxItems": {"$ref": "#/$defs/size"},
	"minProperties": {"$ref": "#/$defs/size"}, "maxProperties": {"$ref": "#/$defs/size"},
	"minimum": {"type": "number"}, "maximum": {"type": "number"},
	"exclusiveMinimum": {"type": "number"}, "exclusiveMaximum": {"type": "number"},
	"multipleOf": {"type": "number", "exclusiveMinimum": 0}
}, "$defs": {
	"type": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
	"named": {"type": "object", "additionalProperties": {"$ref": "#"}},
	"list": {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
	"size": {"type": "integer", "minimum": 0}
}}`

// beyond lists the keywords of all drafts that only the full checker supports. Other unknown keywords do not constrain
// an answer.
var beyond = []string{
	"$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary",
	"additionalItems", "contains", "contentSchema", "dependencies", "dependentRequired", "dependentSchemas", "else",
	"if", "maxContains", "minContains", "patternProperties", "prefixItems", "propertyNames", "then",
	"unevaluatedItems", "unevaluatedProperties",
}

// beyondFormats lists the formats that only the full checker supports. Both checkers ignore other formats.
var beyondFormats = []string{
	"date", "duration", "email", "hostname", "ipv4", "ipv6", "iri", "iri-reference", "json-pointer", "period", "regex",
	"relative-json-pointer", "semver", "time", "uri", "uri-reference", "uri-template", "uuid",
}

// inDraft7 changes metaSchema to the schema of draft 7, which restricts some keywords further.
var inDraft7 = strings.NewReplacer(
	`"enum": {"type": "array"}`, `"enum": {"type": "array", "minItems": 1, "uniqueItems": true},
	"title": {"type": "string"}, "description": {"type": "string"}, "format": {"type": "string"},
	"readOnly": {"type": "boolean"}, "writeOnly": {"type": "boolean"}, "examples": {"type": "array"},
	"contentEncoding": {"type": "string"}, "contentMediaType": {"type": "string"}`,
	`"additionalProperties": {"$ref": "#"}, "items": {"$ref": "#"}`,
	`"additionalProperties": {"$ref": "#"}, "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/$defs/list"}]}`)

// metaNodes maps each draft to its meta-schema, compiled for the basic checker.
var metaNodes = map[string]func() *node{
	draft2020: sync.OnceValue(func() *node { return metaNode(metaSchema) }),
	draft7:    sync.OnceValue(func() *node { return metaNode(inDraft7.Replace(metaSchema)) }),
}

func metaNode(schema string) *node {
	document, _ := jsontext.Strict(schema)
	r := &schemaReader{named: map[string]*node{}}
	root := r.node(document, "")
	r.resolve()
	return root
}
