package structured_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	_ "github.com/clichain/clichain/fullschema"
	"github.com/clichain/clichain/internal/norace"
	"github.com/clichain/clichain/internal/structured"
)

func nested(open, inside, end string, depth int) string {
	return strings.Repeat(open, depth) + inside + strings.Repeat(end, depth)
}

func TestBadSchemas(t *testing.T) {
	for name, test := range map[string]struct{ schema, says string }{
		"no JSON":                 {`{"type":`, "is not valid JSON"},
		"empty text":              {` `, "is not valid JSON"},
		"two documents":           {`{} {}`, "is not valid JSON"},
		"null":                    {`null`, "must be a JSON object"},
		"a boolean":               {`true`, "must be a JSON object"},
		"a list":                  {`[]`, "must be a JSON object"},
		"a text":                  {`"object"`, "must be a JSON object"},
		"unknown type":            {`{"type":"nonsense"}`, "at '/type': value must be one of"},
		"wrong type of a keyword": {`{"properties":[]}`, "at '/properties': got array, want object"},
		"required is not a list":  {`{"required":"a"}`, "at '/required'"},
		"multipleOf zero":         {`{"multipleOf":0}`, "at '/multipleOf'"},
		"negative length":         {`{"minLength":-1}`, "at '/minLength'"},
		"pattern outside RE2":     {`{"pattern":"(?=x)"}`, "is not valid regex"},
		"remote reference":        {`{"$ref":"https://example.com/x.json"}`, `refers to "https://example.com/x.json": only references inside`},
		"remote reference, in":    {`{"items":{"$ref":"http://127.0.0.1:1/x#/$defs/a"}}`, `refers to "http://127.0.0.1:1/x"`},
		"reference to a file":     {`{"$ref":"file:///etc/passwd"}`, `refers to "file:///etc/passwd"`},
		"relative reference":      {`{"$ref":"other.json"}`, `refers to "clichain:///other.json"`},
		"reference to nothing":    {`{"$ref":"#/$defs/a"}`, "not found"},
		"unknown dialect":         {`{"$schema":"https://example.com/dialect"}`, `refers to "https://example.com/dialect"`},
		"duplicate name":          {`{"type":"object","type":"array"}`, `has the name "type" twice`},
		"number out of range":     {`{"maximum":1e999999999}`, "at '/maximum': has a number out of range"},
		"too deep":                {nested(`{"items":`, `{}`, `}`, 300), "nested deeper than 200"},
		"too long":                {`{"description":"` + strings.Repeat("x", structured.MaxSchema) + `"}`, "the maximum is 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := structured.Compile(json.RawMessage(test.schema))
			be := err
			require.Equal(t, call.ReasonBadOption, be.Reason)
			require.Equal(t, "schema", be.Option)
			require.Contains(t, be.Message, test.says)
			require.NotContains(t, be.Message, "\n")
		})
	}
	t.Run("NUL", func(t *testing.T) {
		_, err := structured.Compile(json.RawMessage("{\"a\":\"\x00\"}"))
		requireReason(t, call.ReasonBadRequest, err)
	})
}

func TestNoSchema(t *testing.T) {
	s, err := structured.Compile(nil)
	require.Nil(t, err)
	require.Nil(t, s)
}

const cities = `{"type":"object","properties":{"city":{"type":"string"},"n":{"type":"integer"}},"required":["city"],"additionalProperties":false}`

func TestAccept(t *testing.T) {
	const any = `{}`
	paris := `{"city":"Paris"}`
	for name, test := range map[string]struct{ schema, text, document, problem string }{
		"good":                       {cities, paris, paris, ""},
		"answer returned as written": {cities, "\n {\"city\": \"Paris\",\n \"n\": 3.0} \n", "{\"city\": \"Paris\",\n \"n\": 3.0}", ""},
		"byte order mark":            {cities, "\ufeff" + paris, paris, ""},
		"a banner":                   {cities, "Here you are:\n" + paris, paris, ""},
		"fence within text":          {cities, "Here:\n```json\n" + paris + "\n```\nAnything else?", paris, ""},
		"a scalar":                   {`{"type":"integer"}`, " 42 ", "42", ""},
		"null":                       {any, "null", "null", ""},
		"a list":                     {`{"type":"array"}`, "[\n" + paris + "\n]", "[\n" + paris + "\n]", ""},
		"wrong type":                 {cities, `{"city":1}`, "", "at '/city': got number, want string"},
		"more than one mistake":      {cities, `{"n":"x","m":1}`, "", "at '/n': got string, want integer\nat the top: additional properties 'm' not allowed\nat the top: missing property 'city'"},
		"inside a list":              {`{"items":{"$ref":"#/$defs/c"},"$defs":{"c":` + cities + `}}`, `[` + paris + `,{"city":2}]`, "", "at '/1/city': got number, want string"},
		"no JSON":                    {cities, "Paris", "", "it is not a single JSON value: invalid character 'P'"},
		"cut short":                  {cities, `{"city":"Par`, "", "unexpected end of JSON input"},
		"two documents":              {cities, paris + "\n" + paris, "", "not a single JSON value"},
		"two values within text":     {cities, "Either\n" + paris + "\nor\n" + paris, "", "not a single JSON value"},
		"text on the same line":      {cities, "The answer: " + paris, "", "not a single JSON value"},
		"text after the value":       {cities, paris + " is it", "", "not a single JSON value"},
		"scalar within text":         {`{"type":"integer"}`, "The answer:\n42", "", "not a single JSON value"},
		"list in the banner":         {cities, "[1] see below\n" + paris, "", "not a single JSON value"},
		"NaN":                        {any, `{"n":NaN}`, "", "invalid character 'N'"},
		"too large a number":         {any, `{"n":[1,1e400]}`, "", "at '/n/1': has a number out of range: 1e400"},
		"much too large a number":    {`{"maximum":10}`, `1e999999999`, "", "out of range"},
		"too small a number":         {any, `1e-999999999`, "", "out of range"},
		"zero is not too small":      {any, `0e5`, "0e5", ""},
		"a large integer, exactly":   {`{"const":9007199254740993}`, `9007199254740992`, "", "value must be 9007199254740993"},
		"duplicate name":             {any, `{"a":{"b":1,"b":1}}`, "", `at '/a': has the name "b" twice`},
		"different names":            {any, `{"a":1,"A":2}`, `{"a":1,"A":2}`, ""},
		"pattern":                    {`{"pattern":"^[a-z]+$"}`, `"A1"`, "", "'A1' does not match pattern '^[a-z]+$'"},
		"format":                     {`{"format":"date-time"}`, `"yesterday"`, "", "'yesterday' is not valid date-time"},
		"valid format":               {`{"format":"email"}`, `"a@example.com"`, `"a@example.com"`, ""},
		"unknown format":             {`{"format":"colour"}`, `"x"`, `"x"`, ""},
		"no alternative":             {`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `[]`, "", "at the top: got array, want integer\nat the top: got array, want string"},
		"draft 7":                    {`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"}]}`, `["x"]`, "", "at '/0': got string, want integer"},
		"$id with a reference":       {`{"$id":"https://example.com/a","$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}}}`, `"x"`, "", "got string, want integer"},
		"recursive reference":        {`{"$ref":"#"}`, `1`, "", "reference cycle"},
		"deep":                       {any, nested("[", "1", "]", 200), nested("[", "1", "]", 200), ""},
		"too deep":                   {any, nested("[", "1", "]", 201), "", "nested deeper than 200"},
		"much too deep":              {any, nested("[", "1", "]", 100_000), "", "not a single JSON value"},
		"recursive":                  {`{"items":{"$ref":"#"},"type":["array","integer"]}`, nested("[", `"x"`, "]", 3), "", "at '/0/0/0': got string, want integer or array"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := structured.Compile(json.RawMessage(test.schema))
			require.Nil(t, err)
			document, problem := s.Accept(test.text)
			require.Equal(t, test.document, document)
			if test.problem == "" {
				require.Empty(t, problem)
			}
			require.Contains(t, problem, test.problem)
		})
	}
}

func TestAcceptLimitsListOfMistakes(t *testing.T) {
	s, err := structured.Compile([]byte(`{"items":{"type":"integer"}}`))
	require.Nil(t, err)
	_, problem := s.Accept(`[` + strings.Repeat(`"x",`, 50) + `"` + strings.Repeat("y", 10_000) + `"]`)
	require.Len(t, strings.Split(problem, "\n"), 11)
	require.Contains(t, problem, "and 41 more")
	require.Less(t, len(problem), 1000)
}

func TestHugeDocuments(t *testing.T) {
	s, err := structured.Compile([]byte(`{"type":"array","items":` + cities + `}`))
	require.Nil(t, err)
	document := `[` + strings.Repeat(`{"city":"Paris","n":1},`, norace.Times(200_000, 20_000)) + `{"city":"Paris"}]`
	got, problem := s.Accept(document)
	require.Empty(t, problem)
	require.Len(t, got, len(document))
	_, problem = s.Accept(strings.ReplaceAll(document, "1", `"1"`))
	require.Contains(t, problem, "got string, want integer")
	require.Less(t, len(problem), 1000)
}

// A few hundred bytes of schema and answer must not occupy a host for hours. Here each level doubles the number of
// steps.
func TestCheckLimitsExponentialWork(t *testing.T) {
	tree := `{"type":"object","properties":{"op":{"const":"%"},"l":{"$ref":"#"},"r":{"$ref":"#"}}}`
	schemas := map[string]string{
		"any of": `{"anyOf":[{"items":{"$ref":"#"},"minItems":1},{"items":{"$ref":"#"},"minItems":1}]}`,
		"one of": `{"oneOf":[` + strings.Replace(tree, "%", "+", 1) + `,` + strings.Replace(tree, "%", "-", 1) + `]}`,
	}
	answers := map[string]string{
		"any of": nested("[", "", "]", 150),
		"one of": nested(`{"op":"*","l":`, `{}`, `}`, 150),
	}
	for name, schema := range schemas {
		t.Run(name, func(t *testing.T) {
			s, err := structured.Compile([]byte(schema))
			require.Nil(t, err)
			start := time.Now()
			_, problem := s.Accept(answers[name])
			require.Equal(t, "validating it against the schema takes too long", problem)
			require.Less(t, time.Since(start), 2*time.Minute, "3 s; without an end it takes years")
			_, problem = s.Accept(`{"op":"+"}`)
			require.NotContains(t, problem, "too long", "the next check starts afresh")
		})
	}
}

func FuzzAnswerSchema(f *testing.F) {
	f.Add(cities, `{"city":"Paris"}`)
	f.Add(`{"anyOf":[{"$ref":"#/$defs/a"},{"not":{"$ref":"#"}}],"$defs":{"a":{"multipleOf":0.1}}}`, "x\n[1e3]")
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"#a","unevaluatedItems":{"$dynamicRef":"#a"}}`, `[{"a":null}]`)
	f.Fuzz(func(t *testing.T, schema, text string) {
		s, err := structured.Compile([]byte(schema))
		if err != nil || s == nil {
			return
		}
		if document, problem := s.Accept(text); problem == "" {
			require.True(t, json.Valid([]byte(document)))
			require.Contains(t, text, document)
		}
	})
}

func requireReason(t *testing.T, want call.Reason, err *call.Error) *call.Error {
	t.Helper()
	require.NotNil(t, err)
	require.Equal(t, want, err.Reason, "%v", err)
	return err
}

func TestHoldKeepsWarnings(t *testing.T) {
	schema, err := structured.Compile([]byte(`{"type":"object"}`))
	require.Nil(t, err)
	problem, failed := schema.Hold(&call.Response{Text: "no JSON", Warnings: []string{"the run changed a file"}})
	require.NotEmpty(t, problem)
	require.Equal(t, []string{"the run changed a file"}, failed.Warnings)
}
