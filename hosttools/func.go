package hosttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// MaxTime is the maximum and the default of Tool.Timeout. claude, gemini and opencode end a tool after 60 s.
	MaxTime = 50 * time.Second
	// MaxResult is the maximum size of a result, in bytes of JSON or text. The model gets an error instead of a longer
	// result.
	MaxResult = 1 << 20
)

// Tool is a function that a model can call. Make it with [Func].
type Tool struct {
	// ReadOnly declares that the function changes nothing. After a call of any other function, no backend repeats the
	// request, as after an edit of a file.
	ReadOnly bool
	// Timeout limits a call of the function: its context ends, and the model gets an error. It must not exceed MaxTime.
	// Zero: MaxTime.
	Timeout time.Duration

	name, doc string
	schema    *jsonschema.Schema
	call      func(context.Context, json.RawMessage) (any, error)
	err       error // the mistake in the arguments of Func
}

// Func returns a tool that calls fn. The name has up to 40 letters, digits and underscores and begins with a letter.
// doc tells the model what the function does. In is a struct or a map; its JSON Schema is the one of the tool, with
// descriptions from tags such as `jsonschema:"the name of the city"`. The model gets a string result unchanged, and any
// other result as JSON. It also gets the text of an error of fn, and of invalid input, which never reaches fn.
//
// fn runs in a goroutine of this process, and several calls of it can run at the same time. Its context ends with the
// call of the backend. The backend then waits 2 s at most for fn to return. A panic of fn ends the call of the backend,
// which repeats the panic. Calls of a tool with a mistake, such as an invalid name, fail with bad_option.
func Func[In, Out any](name, doc string, fn func(context.Context, In) (Out, error)) Tool {
	t := Tool{name: name, doc: doc}
	t.schema, t.err = jsonschema.For[In](nil)
	switch {
	case t.err != nil:
		t.err = fmt.Errorf("the input has no JSON Schema: %w", t.err)
	case t.schema.Type != "object":
		t.err = errors.New("the input must be a struct or a map with strings as keys")
	case fn == nil:
		t.err = errors.New("the function is nil")
	}
	t.call = func(ctx context.Context, input json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fmt.Errorf("the arguments do not fit: %w", err)
		}
		return fn(ctx, in)
	}
	return t
}

var nameShape = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,39}$`)

// check returns the mistake in a tool, or nil.
func (t *Tool) check() error {
	switch {
	case t.err != nil:
		return t.err
	case t.call == nil:
		return errors.New("use Func to make a tool")
	case !nameShape.MatchString(t.name):
		return errors.New("the name must have up to 40 letters, digits and underscores, and begin with a letter")
	case t.doc == "":
		return errors.New("the description is empty")
	case t.Timeout < 0 || t.Timeout > MaxTime:
		return fmt.Errorf("the timeout %v is not within 0 to %v", t.Timeout, MaxTime)
	}
	return nil
}

// checkAll returns the first mistake in a list of tools, or nil.
func checkAll(tools []Tool) error {
	if len(tools) == 0 {
		return errors.New("there is no function: add one, or use the backend without With")
	}
	names := map[string]bool{}
	for i := range tools {
		t := &tools[i]
		err := t.check()
		if err == nil && names[t.name] {
			err = errors.New("another function has the same name")
		}
		if err != nil {
			return fmt.Errorf("function %q: %w", t.name, err)
		}
		names[t.name] = true
	}
	return nil
}

// result returns what the model gets: the text of a value or of an error.
func result(value any, err error) *mcp.CallToolResult {
	text, isText := value.(string)
	if err == nil && !isText {
		var encoded []byte
		encoded, err = json.Marshal(value)
		text = string(encoded)
	}
	if err == nil && len(text) > MaxResult {
		err = fmt.Errorf("the result has %d bytes, more than the limit of %d", len(text), MaxResult)
	}
	if err != nil {
		text = err.Error()
		text = text[:min(len(text), MaxResult)]
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: err != nil}
}
