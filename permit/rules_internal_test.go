package permit

import (
	"reflect"
	"strings"
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/stretchr/testify/require"
)

// fieldsOf returns the JSON names of the fields of a struct. Fields of Options get the prefix "options.".
func fieldsOf(t *testing.T, of reflect.Type, prefix string) (names []string) {
	t.Helper()
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		require.NotEmpty(t, name, f.Name)
		if f.Type == reflect.TypeFor[call.Options]() {
			names = append(names, fieldsOf(t, f.Type, name+".")...)
			continue
		}
		names = append(names, prefix+name)
	}
	return names
}

// Each field of a request has exactly one rule. A new field without a rule fails this test.
func TestEachFieldHasARule(t *testing.T) {
	var ruled []string
	for _, r := range rules {
		if r.field != "" {
			ruled = append(ruled, r.field)
		}
	}
	require.ElementsMatch(t, fieldsOf(t, reflect.TypeFor[call.Request](), ""), ruled)
}

// Each rule names a field of Permissions, and each field of Permissions has a rule.
func TestEachPermissionHasARule(t *testing.T) {
	used := map[string]bool{}
	for _, r := range rules {
		decides := r.change != nil || r.allows != nil || r.on != nil
		require.Equal(t, decides, r.by != "", r.field)
		if r.by != "" {
			used[r.by] = true
		}
	}
	for f := range reflect.TypeFor[Permissions]().Fields() {
		name := strings.ToLower(strings.ReplaceAll(f.Name, "MaxB", "max_b"))
		require.True(t, used[name], name)
		require.Equal(t, "the operator can allow it with Permissions."+f.Name, refused(name, "", "").HintText())
		delete(used, name)
	}
	require.Empty(t, used)
}
