package clispec

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRows(t *testing.T) {
	when := When{Set: []string{"model"}}
	s := Spec{
		Args: []ArgRow{{Args: []string{"-p"}}, {Args: []string{"--add", "{add_dirs}"}, Each: "add_dirs", When: when}},
		Env:  []EnvRow{{Name: "A", Value: "{effort}", When: when}}, Files: []FileRow{{Field: "f", Name: "n", Content: "c"}},
	}
	rows := slices.Collect(s.Rows())
	require.Equal(t, []Row{
		{"args", 0, When{}, []string{"-p"}, ""}, {"args", 1, when, []string{"--add", "{add_dirs}"}, "add_dirs"},
		{"env", 0, when, []string{"{effort}"}, ""}, {"files", 0, When{}, []string{"c"}, ""},
	}, rows)
	require.Equal(t, "args[1]", rows[1].Path())
	for want := range len(rows) {
		got := 0
		for range s.Rows() {
			if got == want {
				break
			}
			got++
		}
		require.Equal(t, want, got)
	}
}
