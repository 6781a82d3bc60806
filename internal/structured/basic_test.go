package structured_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/structured"
)

const hint = ` needs the full checker: import _ "github.com/clichain/clichain/fullschema" in the program`

func TestBasicCheckerRefusesOtherSchemas(t *testing.T) {
	chain := `{"$ref":"#/$defs/n0","$defs":{"n102":{}`
	for i := range 102 {
		chain += fmt.Sprintf(`,"n%d":{"$ref":"#/$defs/n%d"}`, i, i+1)
	}
	for name, test := range map[string]struct{ schema, says string }{
		"a keyword":                      {`{"contains":{}}`, `at the top: the keyword "contains"` + hint},
		"keyword in a nested schema":     {`{"properties":{"a/b":{"if":{}}}}`, `at '/properties/a~1b': the keyword "if"` + hint},
		"in a definition":                {`{"$defs":{"a":{"$anchor":"x"}}}`, `at '/$defs/a': the keyword "$anchor"` + hint},
		"a name":                         {`{"$id":"x.json"}`, `at '/$id': the name "x.json"` + hint},
		"$id in a nested schema":         {`{"items":{"$id":"https://example.com/x"}}`, `at '/items/$id': the name "https://example.com/x"` + hint},
		"beside $ref in draft 7":         {`{"$schema":"http://json-schema.org/draft-07/schema#","items":{"$ref":"#","minItems":1}}`, `at '/items': "minItems" beside $ref in draft 7` + hint},
		"list of schemas in draft 7":     {`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}]}`, `at '/items': a list of schemas` + hint},
		"a format":                       {`{"format":"email"}`, `at '/format': the format "email"` + hint},
		"another draft":                  {`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `at the top: the dialect "http://json-schema.org/draft-04/schema#"` + hint},
		"other draft in a nested schema": {`{"items":{"$schema":"http://json-schema.org/draft-06/schema#"}}`, `at '/items/$schema': the dialect "http://json-schema.org/draft-06/schema#"` + hint},
		"reference to another document":  {`{"$ref":"https://example.com/x.json"}`, `at '/$ref': the reference "https://example.com/x.json"` + hint},
		"reference to a part":            {`{"$ref":"#/items","items":{}}`, `at '/$ref': the reference "#/items"` + hint},
		"self-reference":                 {`{"$ref":"#"}`, `at '/$ref': a circular or deeply nested reference` + hint},
		"circular references":            {`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"anyOf":[{},{"not":{"$ref":"#/$defs/a"}}]}}}`, `at '/$defs/a/anyOf/1/not/$ref': a circular or deeply nested reference` + hint},
		"too many references":            {chain + `}}`, `a circular or deeply nested reference` + hint},
		"very large limit":               {`{"maxLength":1e30}`, `at '/maxLength': a number that large` + hint},
		"a mistake":                      {`{"minLength":-1}`, "is not a valid JSON Schema: at '/minLength': minimum: got -1, want 0"},
		"keyword of the wrong type":      {`{"properties":[]}`, "is not a valid JSON Schema: at '/properties': got array, want object"},
		"an unknown type":                {`{"type":"nonsense"}`, "at '/type': value must be one of 'array', 'boolean',"},
		"mistakes":                       {`{"items":{"required":["a","a"]},"multipleOf":0}`, "at '/items/required': items at 0 and 1 are equal at '/multipleOf': exclusiveMinimum: got 0, want 0"},
		"nothing there":                  {`{"$ref":"#/$defs/a"}`, `is not a valid JSON Schema: at '/$ref': "#/$defs/a" is not found`},
		"no pattern":                     {`{"pattern":"(?=x)"}`, "is not a valid JSON Schema: at '/pattern': '(?=x)' is not valid regex: error parsing regexp"},
		"a large pattern":                {withPattern("(?:xxxxxxxxxx){1000}y"), "at '/pattern': the pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := structured.CompileBasic(json.RawMessage(test.schema))
			require.NotNil(t, err)
			require.Equal(t, call.ReasonBadOption, err.Reason)
			require.Equal(t, "schema", err.Option)
			require.Contains(t, err.Message, test.says)
			require.NotContains(t, err.Message, "\n")
		})
	}
}

// With fullschema, the result for every schema is that of the full checker.
func TestFullCheckerSupportsOtherSchemas(t *testing.T) {
	for schema, basic := range map[string]bool{
		`{"type":"string"}`: true, `{"items":{"$ref":"#"}}`: true, `{"format":"date-time"}`: true, `{"x-of":"ours"}`: true,
		`{"$ref":"#"}`: false, `{"contains":{}}`: false, `{"format":"email"}`: false, `{"maxLength":1e30}`: false,
		`{"$schema":"http://json-schema.org/draft-07/schema#"}`:                                                           true,
		`{"$schema":"http://json-schema.org/draft-06/schema#"}`:                                                           false,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":{"$ref":"#/definitions/a"},"definitions":{"a":{}}}`: true,
		`{"$id":"https://example.com/a.json","items":{"$ref":"#"}}`:                                                       true,
		`{"title":5}`: true,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}]}`: false,
		`{"definitions":{"a":{"minLength":-1}}}`:                             false, // unused
		`{"$schema":"https://json-schema.org/draft/2020-12/schema#"}`:        true,
	} {
		s, err := structured.Compile(json.RawMessage(schema))
		require.Nil(t, err, schema)
		require.Equal(t, basic, structured.IsBasic(s), schema)
	}
}

// The basic checker must classify each keyword of each draft as supported or unsupported.
func TestEveryKeywordIsClassified(t *testing.T) {
	silent := []string{
		"$comment", "id", "title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples",
		"contentEncoding", "contentMediaType", "const", "format",
	}
	var meta struct{ Properties map[string]any }
	require.NoError(t, json.Unmarshal([]byte(structured.MetaSchema), &meta))
	page, err := os.ReadFile("../../docs/reference/schemas.md")
	require.NoError(t, err)
	for word := range meta.Properties {
		require.Regexp(t, "`"+regexp.QuoteMeta(word)+"[`:]", string(page))
	}
	words := 0
	var see func(s *jsonschema.Schema, seen map[*jsonschema.Schema]bool)
	see = func(s *jsonschema.Schema, seen map[*jsonschema.Schema]bool) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for word := range s.Properties {
			_, taken := meta.Properties[word]
			require.True(t, taken || slices.Contains(silent, word) || slices.Contains(structured.Beyond, word), word)
			words++
		}
		for _, part := range s.AllOf {
			see(part, seen)
			see(part.Ref, seen)
		}
	}
	for _, draft := range []string{"draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"} {
		scheme := map[bool]string{true: "https", false: "http"}[strings.Contains(draft, "/")]
		s, err := jsonschema.NewCompiler().Compile(scheme + "://json-schema.org/" + draft + "/schema")
		require.NoError(t, err)
		see(s, map[*jsonschema.Schema]bool{})
	}
	require.Greater(t, words, 200)
}

// The schemas of CompleteAs need only the basic checker.
func TestSchemasOfTypesAreBasic(t *testing.T) {
	type all struct {
		At     time.Time          `json:"at"`
		Data   []byte             `json:"data,omitempty"`
		Kind   *string            `json:"kind" jsonschema:"enum=a,enum=b,description=which"`
		Grid   [2][]int8          `json:"grid"`
		Extra  map[string]any     `json:"extra"`
		Raw    json.RawMessage    `json:"raw"`
		Number json.Number        `json:"number"`
		Below  struct{ U uint64 } `json:"below"`
		F      float32            `json:"f"`
		B      bool               `json:"b"`
	}
	schema, failed := structured.OfType(reflect.TypeFor[all]())
	require.Nil(t, failed)
	s, failed := structured.CompileBasic(schema)
	require.Nil(t, failed)
	good := `{"at":"2026-11-25T02:00:00Z","kind":null,"grid":[[1],null],"extra":{"x":[]},"raw":{},"number":1e3,"below":{"U":18446744073709551615},"f":0.5,"b":true}`
	_, problem := s.Accept(good)
	require.Empty(t, problem)
	for answer, says := range map[string]string{
		strings.Replace(good, "T02:00:00Z", "", 1):    "at '/at': '2026-11-25' is not valid date-time: write it as in '2006-01-02T15:04:05Z'",
		strings.Replace(good, "null,", `"c",`, 1):     "at '/kind': value must be one of 'a', 'b', null",
		strings.Replace(good, "[1]", "[1,300]", 1):    "at '/grid/0/1': maximum: got 300, want 127",
		strings.Replace(good, "615}", "615.5}", 1):    "at '/below/U': got number, want integer",
		strings.Replace(good, `"b":true`, `"z":1`, 1): "at the top: additional properties 'z' not allowed\nat the top: missing property 'b'",
	} {
		_, problem := s.Accept(answer)
		require.Equal(t, says, problem, answer)
	}
}

// The basic checker has the same step limit as the full checker, and a recursive schema cannot exhaust the stack.
func TestBasicCheckerLimitsExponentialWork(t *testing.T) {
	s, failed := structured.CompileBasic(json.RawMessage(`{"anyOf":[{"items":{"$ref":"#"},"minItems":1},{"items":{"$ref":"#"},"minItems":1}]}`))
	require.Nil(t, failed)
	_, problem := s.Accept(nested("[", "", "]", 150))
	require.Equal(t, "validating it against the schema takes too long", problem)
	_, problem = s.Accept(`[[1]]`)
	require.Empty(t, problem, "the next check starts afresh")
}
