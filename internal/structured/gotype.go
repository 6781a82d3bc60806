package structured

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/google/jsonschema-go/jsonschema"
)

// knownTypes are types that read themselves from JSON, and the schemas of what
// they take. The schemas are shared and never changed.
var knownTypes = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	reflect.TypeFor[json.Number]():     {Type: "number"},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
}

// OfType makes the JSON Schema of what encoding/json reads into a type. The error
// says which part of the type it cannot describe.
func OfType(t reflect.Type) (json.RawMessage, *call.Error) {
	types := typeWalk{schemas: map[reflect.Type]*jsonschema.Schema{}, seen: map[reflect.Type]bool{}}
	err := types.visit(t)
	var schema *jsonschema.Schema
	if err == nil {
		schema, err = jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: types.schemas})
	}
	if err != nil {
		return nil, call.Errorf(call.ReasonBadOption, "schema",
			"no JSON Schema can be made of %s: %v: give Request.Schema", t, err)
	}
	if slices.Contains(schema.Types, "array") && t.Kind() == reflect.Slice { // an answer must not be null
		schema.Type, schema.Types = "array", nil
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "no JSON Schema can be made of %s: %v", t, err)
	}
	if string(text) == "true" { // any JSON, in the form that Compile takes
		text = []byte("{}")
	}
	return text, nil
}

// typeWalk looks through a type for types that read themselves from JSON, whose
// fields do not tell what they take.
type typeWalk struct {
	schemas map[reflect.Type]*jsonschema.Schema
	seen    map[reflect.Type]bool
}

func (w *typeWalk) visit(t reflect.Type) error {
	if w.seen[t] {
		return nil
	}
	w.seen[t] = true
	reads := func(i reflect.Type) bool { return t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(i) }
	switch known := knownTypes[t]; {
	case known != nil:
		w.schemas[t] = known
		return nil
	case t.Kind() == reflect.Pointer:
		return w.visit(t.Elem())
	case reads(reflect.TypeFor[json.Unmarshaler]()):
		return fmt.Errorf("%s has an UnmarshalJSON of its own", t)
	case reads(reflect.TypeFor[encoding.TextUnmarshaler]()):
		w.schemas[t] = &jsonschema.Schema{Type: "string"}
		return nil
	case t.Kind() == reflect.Interface && t.NumMethod() > 0:
		return fmt.Errorf("nothing can be read into the interface %s", t)
	}
	return w.inside(t)
}

func (w *typeWalk) inside(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return w.visit(t.Elem())
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			tag := field.Tag.Get("json")
			if !field.IsExported() && !field.Anonymous || tag == "-" {
				continue
			}
			if slices.Contains(strings.Split(tag, ",")[1:], "string") {
				return fmt.Errorf("the option \"string\" of field %s is not known", field.Name)
			}
			if err := w.visit(field.Type); err != nil {
				return err
			}
		}
	}
	return nil
}
