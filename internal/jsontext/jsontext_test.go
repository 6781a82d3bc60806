package jsontext

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func TestValue(t *testing.T) {
	for _, test := range []struct {
		name, text string
		end        int // -1 for no value
	}{
		{"empty", "", -1},
		{"blanks", " \n\t\r", -1},
		{"NUL", "\x00", -1},
		{"ends at its bracket", `{"a":[1,{}]} {"b":2}`, 12},
		{"blanks before", " \n[ ]x", 5},
		{"ends at its quote", `"a"b"`, 3},
		{"cut short", `{"a":1`, -1},
		{"truncated literal", `[tru`, -1},
		{"trailing comma in an array", `[1,]`, -1},
		{"trailing comma in an object", `{"a":1,}`, -1},
		{"comma missing", `[1 2]`, -1},
		{"comma first", `[,1]`, -1},
		{"colon missing", `{"a" 1}`, -1},
		{"name without quotes", `{a:1}`, -1},
		{"wrong closing bracket", `{"a":1]`, -1},
		{"control character far into a string", `"0123456789` + "\x1f" + `"`, -1},
		{"DEL and above are not control characters", "\"0123456\x7f\x80\xff\"", 12},
		{"escapes", `"\"\\\/\b\f\n\r\t\u00Af"`, 24},
		{"unknown escape", `"\x"`, -1},
		{"bad digit in an escape", `"\u00g0"`, -1},
		{"truncated escape", `"\u00`, -1},
		{"quote after an even number of backslashes", `"aaaaaa\\\\"`, 12},
		{"quote after an odd number of backslashes", `"aaaaaa\\\"`, -1},
		{"number", `-0.5e+10,`, 8},
		{"leading zero", `01`, 1},
		{"leading zero in an array", `[01]`, -1},
		{"no digits after the decimal point", `1.`, -1},
		{"no digits in the exponent", `1e+`, -1},
		{"plus", `+1`, -1},
		{"NaN", `NaN`, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			end, ok := Value([]byte(test.text), MaxDepth)
			require.Equal(t, test.end >= 0, ok)
			if ok {
				require.Equal(t, test.end, end)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	nest := func(open, end string, n int) []byte { return []byte(strings.Repeat(open, n) + strings.Repeat(end, n)) }
	for name, text := range map[string][2]string{"arrays": {"[", "]"}, "objects": {`{"a":[`, "]}"}} {
		t.Run(name, func(t *testing.T) {
			levels := strings.Count(text[0], "[") + strings.Count(text[0], "{")
			_, ok := Value(nest(text[0], text[1], MaxDepth/levels), MaxDepth)
			require.True(t, ok)
			end, ok := Value(nest(text[0], text[1], 1_000_000), MaxDepth)
			require.False(t, ok)
			require.Less(t, end, 2000, "end is the offset of the limit")
		})
	}
	_, ok := Value([]byte("["+strings.Repeat("[[]],", 1000)+"1]"), 3)
	require.True(t, ok, "closed values do not count")
	_, ok = Value([]byte(`"`+strings.Repeat("[{", 1_000_000)+`"`), 0)
	require.True(t, ok, "brackets in a string do not count")
}

func TestBalanced(t *testing.T) {
	for text, want := range map[string]int{
		`[x] y`: 3, `{a: {b}} c`: 8, `{"}": 1}`: 8, `{"\"}": }`: 9, `[`: -1, `{"a}`: -1, `{{}`: -1,
	} {
		end, closed := balanced(text)
		require.Equal(t, want >= 0, closed, text)
		if closed {
			require.Equal(t, want, end, text)
		}
	}
}

func TestUnquote(t *testing.T) {
	for quoted, want := range map[string]string{
		`""`: "", `"a b"`: "a b", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u0041\u00e9\u4E2D"`: "Aé中",
		`"\ud83d\ude00!"`: "😀!", `"\ud83d"`: "\ufffd", `"\ud83dA"`: "\ufffdA", `"\ud83d\u0041"`: "\ufffdA", `"\ude00\ud83d\ude00"`: "\ufffd😀",
		"\"\xff\\n\"": "\xff\n",
	} {
		require.Equal(t, want, unquote(quoted), quoted)
	}
}

// sameParts compares all parts of a valid value with the result of encoding/json.
func sameParts(t *testing.T, text string) {
	switch text[0] {
	case '{':
		want := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		got := map[string]json.RawMessage{}
		for name, value := range members(text) {
			if utf8.ValidString(name) {
				got[unquote(name)] = json.RawMessage(value)
			}
			sameParts(t, value)
		}
		if utf8.ValidString(text) {
			require.Equal(t, want, got, "%q", text)
		}
	case '[':
		want, got := []json.RawMessage{}, []json.RawMessage{}
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		for value := range Elements(text) {
			got = append(got, json.RawMessage(value))
			sameParts(t, value)
		}
		require.Equal(t, want, got, "%q", text)
	case '"':
		if utf8.ValidString(text) { // encoding/json replaces invalid UTF-8
			var want string
			require.NoError(t, json.Unmarshal([]byte(text), &want))
			require.Equal(t, want, unquote(text), "%q", text)
		}
	}
}

func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		"", " {} ", `{"a":[1,-0.5e+3,true,false,null,"\u00e9\ud83d\ude00\\\""],"":{}}`, `[01]`, `{"a":1,}`, "\"\x00\"", `[[[[[]]]]]`, "\xff", `"\ud800\u0041"`,
		`{"a":1}{"a":2}`, `["aaaaaaaaaaaaaaaa\\","b"]`, strings.Repeat("[", 300), ` [ 1 , 2 ] `, `{"a" : {"b":[]} , "c":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := slices.Clone(text)
		end, ok := Value(text, MaxDepth)
		if end > len(text) || !slices.Equal(before, text) {
			t.Fatalf("%q: end %d", text, end)
		}
		if _, deeper := Value(text, 100_000); deeper != ok {
			return // only its depth is invalid
		}
		whole := ok && strings.Trim(string(text[end:]), " \t\r\n") == ""
		if json.Valid(text) != whole || gjson.ValidBytes(text) != whole {
			t.Fatalf("%q: %v, json %v, gjson %v", text, whole, json.Valid(text), gjson.ValidBytes(text))
		}
		if ok {
			sameParts(t, strings.TrimLeft(string(text[:end]), " \t\r\n"))
		}
		_, _ = balanced(string(text))
	})
}

// BenchmarkValue validates long tool outputs, in comparison with gjson: with an escape sequence every dozen bytes, in
// each line, and without any.
func BenchmarkValue(b *testing.B) {
	for _, page := range []struct{ name, text string }{
		{"dense", "\tif err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", name, err)\n\t}\nok  \texample.com/project\t0.412s\tcoverage: 87.3% of statements\n"},
		{"lines", "The quick brown fox jumps over the lazy dog while the build goes on and nobody looks.\n"},
		{"plain", "The quick brown fox jumps over the lazy dog while the build goes on and nobody looks. "},
	} {
		output, err := json.Marshal(map[string]string{"type": "tool_result", "output": strings.Repeat(page.text, 1000)})
		require.NoError(b, err)
		for name, valid := range map[string]func() bool{
			"jsontext": func() bool { _, ok := Value(output, MaxDepth); return ok },
			"gjson":    func() bool { return gjson.ValidBytes(output) },
		} {
			b.Run(page.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(output)))
				for b.Loop() {
					if !valid() {
						b.Fatal("not valid")
					}
				}
			})
		}
	}
}

// All returns duplicate members, because programs differ in which one they use.
func TestAllReturnsDuplicates(t *testing.T) {
	const doc = ` {"a":{"b":1,"\u0062":2,"c":[{"d":null},{"e\n":{}}]},"a":{"b":"x"},"f":[[{"d":3}]]}`
	require.Equal(t, []string{"a", "b", "b", "c", "d", "e\n", "a", "b", "f", "d"}, slices.Collect(Names(doc)))
	for range Names(doc) {
		break // must end the iteration
	}
	require.Empty(t, slices.Collect(Names(`"a"`)))
	for path, want := range map[string][]string{
		"a.b": {"1", "2", `"x"`}, "a.c.0.d": {"null"}, "f.0.0.d": {"3"}, "f.#": {"1"}, "g": nil, "a.g": nil,
	} {
		parsed, got := ParsePath(path), []string(nil)
		for _, value := range parsed.All(doc) {
			got = append(got, value.Raw)
		}
		require.Equal(t, want, got, path)
	}
}
