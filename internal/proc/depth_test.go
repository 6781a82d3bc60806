package proc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDepth(t *testing.T) {
	for cookie, want := range map[string]int{"": 0, "a": 1, "a,b": 2, "a,b,c": 3} {
		t.Setenv(CookieName, cookie)
		require.Equal(t, want, Depth(), "%q", cookie)
	}
}
