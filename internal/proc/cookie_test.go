package proc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkEnv(t *testing.T) {
	for _, test := range []struct {
		name  string
		outer string
		env   []string
		dir   string
		want  []string
	}{
		{name: "empty", want: []string{CookieName + "=c"}},
		{name: "kept in order", env: []string{"B=1", "A=2", "B=3"}, want: []string{CookieName + "=c", "B=1", "A=2", "B=3"}},
		{name: "PWD stays without directory", env: []string{"PWD=/x"}, want: []string{CookieName + "=c", "PWD=/x"}},
		{name: "PWD follows the directory", env: []string{"PWD=/x", "A=1"}, dir: "/d", want: []string{CookieName + "=c", "A=1", "PWD=/d"}},
		{name: "a given cookie is replaced", env: []string{CookieName + "=x"}, want: []string{CookieName + "=c"}},
		{name: "inside a run", outer: "o", want: []string{CookieName + "=o,c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv(CookieName, test.outer)
			require.Equal(t, test.want, markEnv(test.env, test.dir, "c"))
		})
	}
}

func TestCookiesDiffer(t *testing.T) {
	require.NotEqual(t, newCookie(), newCookie())
}
