package permit

import (
	"reflect"
	"strings"
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/stretchr/testify/require"
)

// fieldsOf lists the fields of a struct as JSON names them; those of Options have its name before them.
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

// Each field of a request has one rule: a new one without it fails here.
func TestEachFieldHasARule(t *testing.T) {
	var ruled []string
	for _, r := range rules {
		if r.field != "" {
			ruled = append(ruled, r.field)
		}
	}
	require.ElementsMatch(t, fieldsOf(t, reflect.TypeFor[call.Request](), ""), ruled)
}

// A rule names the field of Permissions that decides, and each field of Permissions decides something.
func TestEachPermissionDecides(t *testing.T) {
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
