package jsontext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/internal/jsontext"
)

// indexPaths lists the paths that the fuzz target looks up, in texts with the same names.
var indexPaths = []string{
	"a", "b", "a.b", "a.b.c", "a.b.c.d", "a.b.c.d.a.b", "a.0", "a.b.1.c", "a|@keys|0", "a\\.b", "", "@this", "b.a|0",
}

// sameObject checks that an object indexed during validation equals one that is indexed afterwards.
func sameObject(t *testing.T, o *jsontext.Object, line string) {
	t.Helper()
	root, valid := jsontext.ParseObject([]byte(line))
	require.Equal(t, valid, o.Parse([]byte(line)), "%q", line)
	if !valid {
		return
	}
	var other jsontext.Object
	other.Open(root)
	for _, text := range indexPaths {
		path := jsontext.ParsePath(text)
		want, got := other.Get(&path), o.Get(&path)
		require.Equal(t, want.Raw, got.Raw, "%q in %q", text, line)
		require.Equal(t, want.String(), got.String(), "%q in %q", text, line)
		require.Equal(t, want.String(), o.Text(&path, "", false), "%q in %q", text, line)
	}
}

var indexLines = []string{
	`{"a":1}`, `{}`, ` {"a" : { "b" : [ 1 , {"c":2} ] } } `, `{"a":{"b":{"c":{"d":{"a":{"b":"deep"}}}}},"b":"x"}`,
	`{"a":1,"a":2,"b":{"a":[true]}}`, `{"\u0061":{"b":"escaped \" name"}}`, `{"a":{},"b":{"a":{}}}`, "\ufeff{\"a\":null}",
	"\x1b[32m{\"a\":{\"b\":1}}\x1b[0m", `{"a":{"b":{}}`, `{"a":1,}`, `{"a":1}}`, `{"a":1} x`, `{"a"}`, `{"a":}`, `{a:1}`,
	`{"a":1 "b":2}`, `{`, `{"a`, `{"a":{"b":1,}}`, `[{"a":1}]`, ``, `{"a":"b"`, `{"a":{"b":01}}`, `{"a.b":"dot"}`,
}

func TestObjectIndexedDuringValidation(t *testing.T) {
	var o jsontext.Object
	for _, line := range indexLines {
		sameObject(t, &o, line)
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `"%d":{"a":%d},`, i, i)
	}
	sameObject(t, &o, `{`+many.String()+`"a":{"b":{"c":"last"}},"b":1}`)
	require.True(t, o.Parse([]byte(`{"x":{`+many.String()+`"a":{"b":"last"}}}`)))
	path := jsontext.ParsePath("x.a.b")
	require.Equal(t, gjson.String, o.Get(&path).Type)
	require.Equal(t, "last", o.Text(&path, "", false))
	require.False(t, o.Parse([]byte(strings.Repeat(`{"a":`, jsontext.MaxDepth+1)+`1`+strings.Repeat(`}`, jsontext.MaxDepth+1))))
	require.True(t, o.Parse([]byte(strings.Repeat(`{"a":`, jsontext.MaxDepth)+`1`+strings.Repeat(`}`, jsontext.MaxDepth))))
}

func FuzzObject(f *testing.F) {
	for _, line := range indexLines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) { sameObject(t, new(jsontext.Object), line) })
}
