package confine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/landlock"
)

func TestTable(t *testing.T) {
	for _, row := range Table() {
		require.NotEmpty(t, row.Why, row.Path)
		require.NotZero(t, row.None|row.Read|row.Write, row.Path)
		require.Zero(t, row.at(call.AccessFull), row.Path)
		require.Equal(t, strings.HasPrefix(row.Path, "{"), row.find != nil, row.Path)
		require.NotNil(t, row.grant, row.Path)
	}
	for _, denial := range Denials() {
		require.NotEmpty(t, denial.Why, denial.Path)
		require.NotZero(t, denial.Access&landlock.Write, denial.Path)
		if !strings.HasPrefix(denial.Path, "{") {
			_, err := grammar.ReadPath(denial.Path)
			require.NoError(t, err, denial.Path)
		}
	}
	for _, path := range append(managers, DefaultCaches()...) {
		_, err := grammar.ReadPath(path)
		require.NoError(t, err, path)
	}
}
