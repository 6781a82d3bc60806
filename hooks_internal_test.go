package clichain

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each kind of hook is called, joined hooks too.
func TestEachHookIsCalled(t *testing.T) {
	for field := range reflect.TypeFor[Hooks]().Fields() {
		if !field.IsExported() {
			continue
		}
		for name, join := range map[string]func(*Hooks) *Hooks{
			"alone":  func(h *Hooks) *Hooks { return h },
			"joined": func(h *Hooks) *Hooks { return JoinHooks(nil, JoinHooks(h, new(Hooks)), h) },
		} {
			calls := 0
			h := new(Hooks)
			counts := reflect.MakeFunc(field.Type, func([]reflect.Value) []reflect.Value { calls++; return nil })
			reflect.ValueOf(h).Elem().FieldByIndex(field.Index).Set(counts)
			failing := BackendFunc("a", func(context.Context, Request) (*Response, error) {
				return nil, &BackendError{Reason: ReasonUsageLimit}
			})
			skipped := NewProvider(CliSpec{Name: "b", Binary: "/nonexistent/b"}, nil)
			answers := BackendFunc("c", func(context.Context, Request) (*Response, error) { return &Response{Text: "x"}, nil })
			c := ChainOf([]Backend{failing, skipped, answers}, &ChainConfig{Hooks: join(h)})
			_, err := c.Complete(t.Context(), Prompt("hi"))
			require.NoError(t, err)
			require.Positive(t, calls, "%s, %s", field.Name, name)
			if field.Name == "CallStart" {
				require.Equal(t, 1, calls, name)
			}
		}
	}
}
