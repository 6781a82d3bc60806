package structured_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/norace"
	"github.com/clichain/clichain/internal/structured"
)

// The basic checker accepts no schema that the full checker refuses, and both report the same mistakes at the same
// places. testdata contains the seeds that have differed in the past.
func TestCheckersAgree(t *testing.T) {
	count := map[bool]int{}
	seeds := norace.Times(1500, 300)
	for seed := range uint64(seeds) {
		for verdict, n := range enginesAgree(t, seed) {
			count[verdict] += n
		}
	}
	require.Greater(t, count[true], seeds, "answers that match their schema")
	require.Greater(t, count[false], seeds, "answers that do not match")
}

func FuzzEngines(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(1_000_000 + seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { enginesAgree(t, seed) })
}

// enginesAgree compares the checkers on one schema, and counts the answers by result.
func enginesAgree(t *testing.T, seed uint64) map[bool]int {
	g := &generator{rand.New(rand.NewPCG(seed, 0))}
	document := g.object(3, true)
	schema := text(document)
	basic, refused := structured.CompileBasic(json.RawMessage(schema))
	full, problem := structured.CompileFull(schema)
	switch {
	case refused == nil:
		require.Empty(t, problem, "seed %d: %s", seed, schema)
	case strings.HasSuffix(refused.Message, "is not found"): // the full checker does not check unused definitions
		return nil
	case strings.Contains(refused.Message, otherDefs(document)): // the full checker checks only the used parts of them
		return nil
	case !strings.Contains(refused.Message, "needs the full checker"):
		require.NotEmpty(t, problem, "seed %d: %s: %s", seed, schema, refused.Message)
		return nil
	default:
		return nil
	}
	count := map[bool]int{}
	for range 10 {
		answer := text(g.value(3))
		got, err := structured.Findings(basic, answer)
		require.NoError(t, err)
		want, err := structured.Findings(full, answer)
		require.NoError(t, err)
		require.Equal(t, findings(want), findings(got), "seed %d: %s\n%s", seed, schema, answer)
		count[len(want) == 0]++
	}
	return count
}

// otherDefs returns the keyword for definitions in the other draft.
func otherDefs(document map[string]any) string {
	if name, _ := document["$schema"].(string); strings.Contains(name, "draft-07") {
		return "at '/$defs/"
	}
	return "at '/definitions/"
}

var (
	number = regexp.MustCompile(`-?[0-9]+(?:[,.][0-9]+)*(?:[eE][-+]?[0-9]+|\s?× ?10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?`)
	why    = regexp.MustCompile(`(is not valid date-time): .*`)
	extra  = regexp.MustCompile(`(additional properties) (.*) not`)
)

// findings normalizes the findings of both checkers: the format of numbers, the order of names, and the reason why a
// text is not a date may differ.
func findings(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		place, say, _ := strings.Cut(line, ": ")
		say = why.ReplaceAllString(say, "$1")
		say = extra.ReplaceAllStringFunc(say, func(s string) string {
			m := extra.FindStringSubmatch(s)
			names := strings.Split(m[2], ", ")
			slices.Sort(names)
			return m[1] + strings.Join(names, ", ")
		})
		say = strings.ReplaceAll(say, "<nil>", "null")
		lines[i] = place + ": " + number.ReplaceAllString(say, "#")
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func text(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// generator creates random schemas and values from few names, so that they often match.
type generator struct{ *rand.Rand }

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *generator) schema(depth int) any {
	if depth == 0 || g.IntN(8) == 0 {
		return pick[any](g, true, false, map[string]any{}, map[string]any{"type": g.kind()}, map[string]any{"$ref": "#/$defs/a"})
	}
	return g.object(depth, false)
}

func (g *generator) object(depth int, top bool) map[string]any {
	object := map[string]any{}
	for range 1 + g.IntN(4) {
		word := pick(g, "type", "type", "properties", "properties", "required", "additionalProperties", "items", "enum", "const",
			"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties", "minimum", "maximum",
			"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "anyOf", "oneOf", "allOf", "not", "pattern", "format",
			"uniqueItems", "description", "title", "default", "x-unknown", "$comment", "$schema", "$ref", "id", "contentEncoding", "contentMediaType", "examples", "readOnly", "writeOnly")
		object[word] = g.keyword(word, depth-1)
	}
	if top && g.IntN(3) == 0 {
		object["definitions"] = map[string]any{"c": g.schema(2)}
	}
	if top && g.IntN(3) == 0 {
		object["$schema"] = pick(g, "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema")
		object["definitions"] = map[string]any{"c": g.schema(2)}
	}
	if top && g.IntN(4) == 0 {
		object["$id"] = pick(g, "https://example.com/a.b/c", "http://example.com", "https://example.com/a/../b/.", "x.json", "https://example.com/#a")
	}
	if top {
		object["$defs"] = map[string]any{"a": g.schema(2), "b": g.schema(1)}
	}
	if g.IntN(60) == 0 {
		object[pick(g, structured.Beyond...)] = g.value(1)
	}
	return object
}

func (g *generator) keyword(word string, depth int) any {
	if g.IntN(150) == 0 {
		return g.value(2) // malformed in most cases
	}
	switch word {
	case "type":
		if g.IntN(3) == 0 {
			return []any{"null", g.kind()}
		}
		return g.kind()
	case "properties":
		return map[string]any{"a": g.schema(depth), pick(g, "b", "c/d", "e~'f"): g.schema(depth)}
	case "required":
		return pick(g, []any{}, []any{"a"}, []any{"b", "a"}, []any{"c/d", "z"})
	case "additionalProperties", "items", "not":
		return g.schema(depth)
	case "anyOf", "oneOf", "allOf":
		list := []any{g.schema(depth), g.schema(depth), g.schema(depth)}
		return list[:1+g.IntN(3)]
	case "enum":
		return []any{g.value(1), g.value(1), g.value(0)}[:g.IntN(4)]
	case "const", "default", "x-unknown":
		return g.value(1)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return g.number()
	case "multipleOf":
		return json.Number(pick(g, "1", "2", "0.1", "1e-3", "3.0"))
	case "pattern":
		return pick(g, "^a", "b$", "^.{2}$", `^\d+$`, "(?i)A", "é")
	case "format":
		return pick(g, "date-time", "date-time", "date-time", "colour", "idn-email", "idn-hostname", pick(g, structured.BeyondFormats...))
	case "uniqueItems":
		return g.IntN(4) > 0
	case "$schema":
		return pick(g, "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/schema#", "http://json-schema.org/draft-07/schema#")
	case "$ref":
		return pick(g, "#/$defs/a", "#/$defs/b", "#/$defs/b", "#/definitions/c", "#", "#/$defs/none", "#/properties/a")
	case "examples":
		return []any{g.value(1)}
	case "readOnly", "writeOnly":
		return true
	case "description", "title", "$comment", "id", "contentEncoding", "contentMediaType":
		return pick(g, "a", "base64", "\x1b[1mé")
	}
	return json.Number(pick(g, "0", "1", "2", "2.0", "3", "1e1")) // a size
}

func (g *generator) kind() any {
	return pick[any](g, "null", "boolean", "number", "integer", "string", "string", "array", "array", "object", "object")
}

func (g *generator) number() any {
	return json.Number(pick(g, "0", "1", "1.0", "1e0", "-1", "2", "0.1", "0.3", "12345.678", "9007199254740992", "9007199254740993",
		"-0", "1e308", "18446744073709551616", "1e-300", "100000000000000000000000000000001"))
}

func (g *generator) value(depth int) any {
	if depth > 0 && g.IntN(2) == 0 {
		if g.IntN(3) == 0 {
			list := []any{g.value(depth - 1), g.value(depth - 1), g.value(depth - 1), g.value(depth - 1)}
			return list[:g.IntN(5)]
		}
		object := map[string]any{}
		for range g.IntN(4) {
			object[pick(g, "a", "b", "c/d", "e~'f", "z")] = g.value(depth - 1)
		}
		return object
	}
	switch g.IntN(6) {
	case 0:
		return pick[any](g, nil, true, false)
	case 1, 2:
		return g.number()
	case 3:
		return g.date()
	}
	return pick(g, "", "a", "b", "ab", "A", "é", "a\"b'c\\d", "12", "x\ny", "\U0001f600\U0001f600")
}

// date returns a valid or slightly malformed date and time.
func (g *generator) date() any {
	date := fmt.Sprintf("%04d-%02d-%02d", g.IntN(3000), g.IntN(14), g.IntN(33))
	clock := fmt.Sprintf("%02d:%02d:%02d", pick(g, 0, 9, 22, 23, 24), pick(g, 0, 29, 58, 59, 60), pick(g, 0, 7, 59, 60, 60, 61))
	if g.IntN(20) == 0 {
		clock = pick(g, "+1:00:00", "-0:00:00", "1:2:3:40", "::::::::", "12.00.00")
	}
	zone := pick(g, "Z", "z", "", ".5Z", ".Z", ".123456789012z", "+01:00", "-00:01", "+23:59", "-12:30", "+24:00", "+1:000", "+-1:00", "Zé", "01:00")
	return date + pick(g, "T", "t", " ", "T") + clock + zone
}
