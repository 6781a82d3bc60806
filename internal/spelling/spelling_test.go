package spelling_test

import (
	"strings"
	"testing"

	"github.com/clichain/clichain/internal/spelling"
	"github.com/stretchr/testify/require"
)

func TestNear(t *testing.T) {
	words := []string{"access", "args", "env", "events", "transport", "transports"}
	for _, test := range []struct{ word, want string }{
		{"acces", "access"},
		{"accses", "access"},
		{"Access", "access"},
		{"evnets", "events"},
		{"arg", "args"},
		{"evn", "env"},
		{"transprot", "transport"},
		{"transportss", "transports"},
		{"zebra", ""},
		{"as", ""},
		{"", ""},
		{strings.Repeat("access", 100), ""},
	} {
		require.Equal(t, test.want, spelling.Near(test.word, words), test.word)
	}
}
