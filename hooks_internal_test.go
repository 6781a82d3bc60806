package clichain

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hooks that hear of one thing are heard of by the chains inside, whatever it is.
func TestHooksOfOneKindAreKept(t *testing.T) {
	require.Nil(t, hooksOf(withHooks(t.Context(), Hooks{})))
	for field := range reflect.TypeFor[Hooks]().Fields() {
		var h Hooks
		does := reflect.MakeFunc(field.Type, func([]reflect.Value) []reflect.Value { return nil })
		reflect.ValueOf(&h).Elem().FieldByIndex(field.Index).Set(does)
		ctx := withHooks(t.Context(), h)
		require.Len(t, hooksOf(ctx), 1, field.Name)
		require.Empty(t, hooksOf(withoutHooks(ctx)), field.Name)
		require.Len(t, hooksOf(withHooks(ctx, h)), 2, field.Name)
	}
}
