package call

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHostToolsOfContext(t *testing.T) {
	require.Nil(t, HostToolsOf(t.Context()))
	tools := &HostTools{URL: "http://127.0.0.1:1"}
	ctx := WithHostTools(t.Context(), tools)
	require.Same(t, tools, HostToolsOf(ctx))
	require.Nil(t, HostToolsOf(WithHostTools(ctx, nil)), "nil removes the functions of the outer context")
}

func TestHaveActed(t *testing.T) {
	for _, test := range []struct {
		name  string
		tools *HostTools
		want  bool
	}{
		{"no functions", nil, false},
		{"functions that change nothing", new(HostTools), false},
		{"not begun", &HostTools{Acted: func() bool { return false }}, false},
		{"begun", &HostTools{Acted: func() bool { return true }}, true},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, test.tools.HaveActed()) })
	}
}
