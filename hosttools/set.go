package hosttools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Set returns the tools for the field Tools of a live.Config. The model of the session can then call them in each turn.
// If there is a mistake in a tool, the session does not start.
func Set(tools ...Tool) call.HostToolSet {
	s := set{tools: slices.Clone(tools)}
	if s.err = checkAll(s.tools); s.err != nil {
		return s
	}
	for i := range s.tools {
		t := &s.tools[i]
		s.defs = append(s.defs, mcp.Tool{
			Name: t.name, Description: t.doc, InputSchema: t.schema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly},
		})
	}
	text, err := json.Marshal(s.defs)
	s.err = err
	hash := sha256.Sum256(text)
	s.kind = hex.EncodeToString(hash[:])
	return s
}

type set struct {
	tools []Tool
	defs  []mcp.Tool // what a model learns about the tools
	kind  string     // a hash of defs
	err   error      // the mistake in a tool
}

// Begin begins a call with the tools.
func (s set) Begin(ctx context.Context) (context.Context, func() error, error) {
	if s.err != nil {
		return nil, nil, call.Errorf(call.ReasonBadOption, "tools", "%s", s.err)
	}
	ctx, r := begin(ctx, s.tools)
	ctx = call.WithHostTools(ctx, &call.HostTools{
		URL: "http://127.0.0.1/" + s.kind, Token: s.kind, Acted: r.acted.Load,
		Serve: func() (*call.HostServer, error) { return serve(s.defs) },
	})
	return ctx, r.end, nil
}
