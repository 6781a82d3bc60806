// Package accept has checks of answers for ChainConfig.Accept: [As] for an answer of a Go type, and [Command] for a
// program that checks the text.
package accept

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/clichain/clichain/call"
)

// As returns a check that gets the answer as a value of the Go type T, as clichain.CompleteAs returns it. It refuses an
// answer that cannot be unmarshaled into a T. With a nil check, it accepts every other answer.
func As[T any](
	check func(ctx context.Context, resp *call.Response, value T) error,
) func(context.Context, call.Request, *call.Response) error {
	return func(ctx context.Context, _ call.Request, resp *call.Response) error {
		var value T
		if err := json.Unmarshal([]byte(resp.Text), &value); err != nil {
			return fmt.Errorf("the answer cannot be unmarshaled into %v: %w", reflect.TypeFor[T](), err)
		}
		if check == nil {
			return nil
		}
		return check(ctx, resp, value)
	}
}
