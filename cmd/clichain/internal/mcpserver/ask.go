package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// question has the arguments of ask and second_opinion. The other fields of a request are those of the operator.
type question struct {
	Prompt string          `json:"prompt"`
	System string          `json:"system"`
	Model  string          `json:"model"`
	Access clichain.Access `json:"access"`
	Dir    string          `json:"dir"`
}

// ask answers a question with the chain, or with the named backends of it.
func (s *server) ask(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, string, error) {
	var args struct {
		question
		Backends []string `json:"backends"`
	}
	if err := decode(req, &args); err != nil {
		return nil, "", err
	}
	chosen, err := s.named(args.Backends)
	if err != nil {
		return nil, "", err
	}
	return s.complete(ctx, req, args.question, chosen)
}

// secondOpinion answers a question with the backends of other vendors than that of the client.
func (s *server) secondOpinion(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, string, error) {
	var args question
	if err := decode(req, &args); err != nil {
		return nil, "", err
	}
	caller, err := s.callerOf(clientName(req))
	if err != nil {
		return nil, "", err
	}
	others := otherVendors(s.backends, caller)
	if len(others) == 0 {
		return nil, "", call.Errorf(clichain.ReasonUnsupported, "",
			"no backend of another vendor than %s: install and log in another CLI, or add it to --only", vendorText(caller))
	}
	return s.complete(ctx, req, args, others)
}

// named returns the backends with these names, in this order, or all.
func (s *server) named(names []string) (chosen []backend, err error) {
	if len(names) == 0 {
		return s.backends, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(s.backends, func(b backend) bool { return b.Name() == name })
		if i < 0 {
			return nil, call.Errorf(clichain.ReasonBadOption, "backends", "%.100q is not one of %s",
				name, strings.Join(namesOf(s.backends), ", "))
		}
		if !slices.ContainsFunc(chosen, func(b backend) bool { return b.Name() == name }) {
			chosen = append(chosen, s.backends[i])
		}
	}
	return chosen, nil
}

// complete asks a chain of the backends.
func (s *server) complete(
	ctx context.Context, req *mcp.CallToolRequest, q question, chosen []backend,
) (*mcp.CallToolResult, string, error) {
	if s.depth >= s.maxDepth {
		return nil, "", call.Errorf(clichain.ReasonNestedSession, "",
			"%d calls of clichain contain this agent, and the limit is %d: answer without this tool, "+
				"or let the operator raise --max-depth of clichain mcp", s.depth, s.maxDepth)
	}
	ask := clichain.Request{Model: q.Model, Access: q.Access, Dir: q.Dir}
	if q.System != "" {
		ask.Messages = append(ask.Messages, clichain.Message{Role: clichain.RoleSystem, Content: q.System})
	}
	ask.Messages = append(ask.Messages, clichain.Message{Role: clichain.RoleUser, Content: q.Prompt})
	ask, err := s.permissions.Apply(ask)
	if err != nil {
		return nil, "", err
	}
	backends := make([]clichain.Backend, len(chosen))
	for i, b := range chosen {
		backends[i] = b.Backend
	}
	progress := newProgress(ctx, req)
	defer progress.end()
	resp, err := s.chain(backends, progress.hooks()).Complete(ctx, ask)
	if err != nil {
		return nil, "", err
	}
	return answerOf(resp), resp.Backend, nil
}
