package call

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const testParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestTrace(t *testing.T) {
	parent, state := TraceOf(t.Context())
	require.Empty(t, parent+state)
	ctx := WithTrace(t.Context(), testParent, "vendor=a,other=b")
	parent, state = TraceOf(ctx)
	require.Equal(t, testParent, parent)
	require.Equal(t, "vendor=a,other=b", state)
	_, state = TraceOf(WithTrace(ctx, testParent, strings.Repeat("a", 512)))
	require.Len(t, state, 512, "the maximum length")
	parent, state = TraceOf(WithTrace(ctx, "", "vendor=a"))
	require.Empty(t, parent+state, "the later one counts, even if it is none")
}

func TestTraceIsWellFormed(t *testing.T) {
	for name, parent := range map[string]string{
		"upper case": strings.ToUpper(testParent), "trailing newline": testParent + "\n", "additional field": testParent + "-00", "missing first character": testParent[1:],
		"invalid version": "ff" + testParent[2:], "zero trace ID": "00-" + strings.Repeat("0", 32) + testParent[35:],
		"zero span ID": testParent[:36] + strings.Repeat("0", 16) + "-01", "invalid hexadecimal digit": strings.Replace(testParent, "4b", "4g", 1),
		"missing dash": strings.Replace(testParent, "-", "0", 1), "shell command": "$(id)",
	} {
		t.Run(name, func(t *testing.T) {
			got, state := TraceOf(WithTrace(t.Context(), parent, "vendor=a"))
			require.Empty(t, got+state)
		})
	}
	for name, state := range map[string]string{"long": strings.Repeat("a", 513), "a newline": "a=b\nc=d", "no ASCII": "a=ü", "NUL": "a=\x00"} {
		t.Run(name, func(t *testing.T) {
			parent, got := TraceOf(WithTrace(t.Context(), testParent, state))
			require.Equal(t, testParent, parent)
			require.Empty(t, got)
		})
	}
}
