package structured

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

func TestTypesWithoutASchema(t *testing.T) {
	for name, test := range map[string]struct {
		of   reflect.Type
		says string
	}{
		"chan":                  {reflect.TypeFor[chan int](), "chan int"},
		"func in a map":         {reflect.TypeFor[map[string]func()](), "map[string]func()"},
		"chan in a struct":      {reflect.TypeFor[listens](), "structured.listens"},
		"recursive":             {reflect.TypeFor[tree](), "structured.tree"},
		"complex":               {reflect.TypeFor[[]complex128](), "complex128"},
		"map of floats":         {reflect.TypeFor[map[float64]int](), "map[float64]int"},
		"reads itself":          {reflect.TypeFor[[]itself](), "structured.itself has an UnmarshalJSON of its own"},
		"an interface":          {reflect.TypeFor[reader](), "nothing can be read into the interface structured.reader"},
		"numbers in quotes":     {reflect.TypeFor[inQuotes](), `the option "string" of field N`},
		"reads itself, pointer": {reflect.TypeFor[*itself](), "structured.itself"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := OfType(test.of)
			be := err
			require.Equal(t, call.ReasonBadOption, be.Reason)
			require.Equal(t, "schema", be.Option)
			require.Contains(t, be.Message, test.says)
		})
	}
}

func TestSchemasOfTypes(t *testing.T) {
	type optional struct {
		A int  `json:"a"`
		B int  `json:"b,omitempty"`
		C *int `json:"c"`
		D int  `json:"-"`
		e int
	}
	_ = optional{}.e
	type other struct {
		At   netip.Addr
		Raw  json.RawMessage
		Num  json.Number
		Data []byte
		Any  any
	}
	for name, test := range map[string]struct {
		of   reflect.Type
		want string
	}{
		"optional fields": {reflect.TypeFor[optional](), `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":["null","integer"]}},"required":["a","c"],"additionalProperties":false}`},
		"types that read themselves": {reflect.TypeFor[other](), `{"type":"object","properties":{"At":{"type":"string"},"Raw":true,"Num":{"type":"number"},"Data":{"type":"string","contentEncoding":"base64"},"Any":true},
			"required":["At","Raw","Num","Data","Any"],"additionalProperties":false}`},
		"time":          {reflect.TypeFor[time.Time](), `{"type":"string","format":"date-time"}`},
		"list":          {reflect.TypeFor[[]string](), `{"type":"array","items":{"type":"string"}}`},
		"bytes":         {reflect.TypeFor[[]byte](), `{"type":"string","contentEncoding":"base64"}`},
		"anything":      {reflect.TypeFor[any](), `{}`},
		"anything, raw": {reflect.TypeFor[json.RawMessage](), `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := OfType(test.of)
			require.Nil(t, err)
			require.JSONEq(t, test.want, string(schema))
			_, err = Compile(schema)
			require.Nil(t, err)
		})
	}
}

type (
	tree     struct{ Children []tree }
	listens  struct{ C chan int }
	inQuotes struct {
		N int `json:"n,string"`
	}
	itself struct{}
	reader interface{ Read([]byte) (int, error) }
)

func (*itself) UnmarshalJSON([]byte) error { return nil }
