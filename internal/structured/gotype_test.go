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

func TestOfTypeRefusesTypes(t *testing.T) {
	for name, test := range map[string]struct {
		of   reflect.Type
		says string
	}{
		"chan":              {reflect.TypeFor[chan int](), "chan int"},
		"func in a map":     {reflect.TypeFor[map[string]func()](), "map[string]func()"},
		"chan in a struct":  {reflect.TypeFor[listens](), "structured.listens"},
		"recursive":         {reflect.TypeFor[tree](), "structured.tree"},
		"complex":           {reflect.TypeFor[[]complex128](), "complex128"},
		"map of floats":     {reflect.TypeFor[map[float64]int](), "map[float64]int"},
		"reads itself":      {reflect.TypeFor[[]itself](), "structured.itself has its own UnmarshalJSON"},
		"an interface":      {reflect.TypeFor[reader](), "JSON cannot be decoded into the interface structured.reader"},
		"numbers in quotes": {reflect.TypeFor[inQuotes](), `the option "string" of field N`},
		"enum of a bool": {reflect.TypeFor[struct {
			A bool `jsonschema:"enum=true"`
		}](), "an enum needs a string, a number"},
		"enum of a struct": {reflect.TypeFor[struct {
			A struct{} `jsonschema:"enum=a"`
		}](), "an enum needs a string, a number"},
		"enum of anything": {reflect.TypeFor[struct {
			A any `jsonschema:"enum=a"`
		}](), "an enum needs a string, a number"},
		"enum that is not an integer": {reflect.TypeFor[struct {
			A int `jsonschema:"enum=1,enum=b"`
		}](), `jsonschema:"enum=1,enum=b" of field A: "b" is not an integer`},
		"enum that is not a number": {reflect.TypeFor[struct {
			A float64 `jsonschema:"enum=NaN"`
		}](), `"NaN" is not a number`},
		"enum twice": {reflect.TypeFor[struct {
			A string `jsonschema:"enum=a,enum=a"`
		}](), `"a" appears twice`},
		"enum as a list": {reflect.TypeFor[struct {
			A string `jsonschema:"enum=bug,feature"`
		}](), `"feature" is neither enum=VALUE nor description=TEXT`},
		"enum with bars": {reflect.TypeFor[struct {
			A string `jsonschema:"enum=bug|feature"`
		}](), `write one enum for each value`},
		"another setting": {reflect.TypeFor[struct {
			A int `jsonschema:"minimum=3"`
		}](), `"minimum=3" is neither enum=VALUE nor description=TEXT`},
		"an empty tag": {reflect.TypeFor[struct {
			A int `jsonschema:""`
		}](), "the tag jsonschema of field A is empty"},
		"own UnmarshalJSON on the pointer": {reflect.TypeFor[*itself](), "structured.itself"},
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

func TestOfType(t *testing.T) {
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
	type base struct {
		ID   int    `json:"id"`
		Name string `json:"name" jsonschema:"enum=x,enum=y"`
	}
	type Kind string
	type embeds struct {
		base
		*Deep
		Base  base `json:"base"`
		Named `json:"named"`
		Hid   `json:"-"`
		Kind
		Name string `json:"name"` // hides Name of base
	}
	type labels struct {
		Kind   Kind      `json:"kind" jsonschema:"enum=bug,enum=feature request, enum=question,description=of the issue, as a whole"`
		Area   *string   `json:"area" jsonschema:"enum=api,enum=docs"`
		Tags   []Kind    `json:"tags,omitempty" jsonschema:"enum=old,enum="`
		Level  int       `json:"level" jsonschema:"enum=-1,enum=2"`
		Big    uint64    `json:"big" jsonschema:"enum=18446744073709551615"`
		Weight *float64  `json:"weight" jsonschema:"enum=0.5,enum=1"`
		Grid   [][2]int8 `json:"grid" jsonschema:"enum=1"`
		Why    string    `json:"why" jsonschema:"description=one sentence, please"`
		Text   string    `json:"text" jsonschema:"if a = b, say so"`
	}
	for name, test := range map[string]struct {
		of   reflect.Type
		want string
	}{
		"enums": {reflect.TypeFor[labels](), `{"type":"object","properties":{
			"kind":{"type":"string","description":"of the issue, as a whole","enum":["bug","feature request","question"]},
			"area":{"type":["null","string"],"enum":["api","docs",null]},
			"tags":{"type":["null","array"],"items":{"type":"string","enum":["old",""]}},
			"level":{"type":"integer","enum":[-1,2]},
			"big":{"type":"integer","minimum":0,"enum":[18446744073709551615]},
			"weight":{"type":["null","number"],"enum":[0.5,1,null]},
			"grid":{"type":["null","array"],"items":{"type":"array","minItems":2,"maxItems":2,"items":{"type":"integer","minimum":-128,"maximum":127,"enum":[1]}}},
			"why":{"type":"string","description":"one sentence, please"},
			"text":{"type":"string","description":"if a = b, say so"}},
			"required":["kind","area","level","big","weight","grid","why","text"],"additionalProperties":false}`},
		"embedded structs": {reflect.TypeFor[embeds](), `{"type":"object","properties":{"id":{"type":"integer"},"Far":{"type":"boolean"},
			"base":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string","enum":["x","y"]}},"required":["id","name"],"additionalProperties":false},
			"named":{"type":"object","properties":{"Inner":{"type":"string"}},"required":["Inner"],"additionalProperties":false},
			"Kind":{"type":"string"},"name":{"type":"string"}},
			"required":["id","Far","base","named","Kind","name"],"additionalProperties":false}`},
		"optional fields": {reflect.TypeFor[optional](), `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":["null","integer"]}},"required":["a","c"],"additionalProperties":false}`},
		"types with their own UnmarshalJSON": {reflect.TypeFor[other](), `{"type":"object","properties":{"At":{"type":"string"},"Raw":{},"Num":{"type":"number"},"Data":{"type":"string","contentEncoding":"base64"},"Any":{}},
			"required":["At","Raw","Num","Data","Any"],"additionalProperties":false}`},
		"numbers": {reflect.TypeFor[struct {
			A int
			B int16
			C int32
			D int64
			E uint8
			F uint16
			G uint32
			H uint
			I float32
			J bool
		}](), `{"type":"object","properties":{"A":{"type":"integer"},"B":{"type":"integer","minimum":-32768,"maximum":32767},
			"C":{"type":"integer","minimum":-2147483648,"maximum":2147483647},"D":{"type":"integer"},"E":{"type":"integer","minimum":0,"maximum":255},
			"F":{"type":"integer","minimum":0,"maximum":65535},"G":{"type":"integer","minimum":0,"maximum":4294967295},
			"H":{"type":"integer","minimum":0},"I":{"type":"number"},"J":{"type":"boolean"}},
			"required":["A","B","C","D","E","F","G","H","I","J"],"additionalProperties":false}`},
		"nothing":       {reflect.TypeFor[struct{}](), `{"type":"object","properties":{},"additionalProperties":false}`},
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

// Models write the fields in the order of the type, so that an explanation can precede the decision.
func TestFieldsKeepTheirOrder(t *testing.T) {
	type base struct{ Z, Twice string }
	schema, err := OfType(reflect.TypeFor[struct {
		base
		Why   string `json:"why" jsonschema:"a < b & c"`
		Twice string
		A     int
	}]())
	require.Nil(t, err)
	require.Equal(t, `{"type":"object","properties":{"Z":{"type":"string"},"why":{"type":"string","description":"a \u003c b \u0026 c"},`+
		`"Twice":{"type":"string"},"A":{"type":"integer"}},"required":["Z","why","Twice","A"],"additionalProperties":false}`, string(schema))
}

type (
	Deep     struct{ Far bool }
	Named    struct{ Inner string }
	Hid      struct{ Out chan int }
	tree     struct{ Children []tree }
	listens  struct{ C chan int }
	inQuotes struct {
		N int `json:"n,string"`
	}
	itself struct{}
	reader interface{ Read([]byte) (int, error) }
)

func (*itself) UnmarshalJSON([]byte) error { return nil }
