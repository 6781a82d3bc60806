package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// instructions describes the server to the model of the client.
const instructions = `These tools ask other AI coding agents on this machine.
An agent sees only the prompt: put everything that it needs to know into it.`

// tool is a tool of the server.
type tool struct {
	mcp.Tool
	run func(ctx context.Context, req *mcp.CallToolRequest) (result *mcp.CallToolResult, by string, err error)
}

// schema is a JSON Schema.
type schema map[string]any

func text(description string) schema { return schema{"type": "string", "description": description} }

// tools returns the tools, in alphabetical order.
func (s *server) tools() []tool {
	acts := s.permissions.Access >= clichain.AccessWrite
	asks := &mcp.ToolAnnotations{ReadOnlyHint: !acts, DestructiveHint: &acts, OpenWorldHint: new(true)}
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)}
	own := s.properties()
	own["backends"] = schema{
		"type": "array", "items": schema{"type": "string", "enum": namesOf(s.backends)},
		"description": "agents to ask, in this order (default: all)",
	}
	return []tool{
		{mcp.Tool{
			Name: "ask", Annotations: asks, InputSchema: object(own, "prompt"),
			Description: "Ask another AI agent. If one cannot answer, such as at its usage limit, the next one is asked.",
		}, s.ask},
		{mcp.Tool{
			Name: "doctor", Annotations: reads, InputSchema: object(schema{}),
			Description: "Report which agents are installed and logged in, and how to fix the others.",
		}, report(s.doctor)},
		{mcp.Tool{
			Name: "second_opinion", Annotations: asks, InputSchema: object(s.properties(), "prompt"),
			Description: "Ask an AI agent of another vendor than yours, for an independent answer or a review.",
		}, s.secondOpinion},
		{mcp.Tool{
			Name: "usage", Annotations: reads, InputSchema: object(schema{}),
			Description: "Report how much of the usage windows of each plan is used, and when they reset.",
		}, report(s.usage)},
	}
}

// properties returns the schemas of the arguments that ask and second_opinion share. The operator's ceiling determines
// whether access and dir exist.
func (s *server) properties() schema {
	all := schema{
		"prompt": text("the question or the task, with everything that the agent needs to know"),
		"system": text("a system prompt for the agent"),
		"model":  text("a model, or AGENT/MODEL (default: the agent's own)"),
	}
	if s.permissions.Access > clichain.AccessNone {
		var levels []string
		for level := clichain.AccessNone; level <= s.permissions.Access; level++ {
			levels = append(levels, level.String())
		}
		all["access"] = schema{
			"type": "string", "enum": levels, "description": "what the agent may do with files (default: none)",
		}
		all["dir"] = text("working directory of the agent; needs access (default: the first that is permitted)")
	}
	return all
}

func object(properties schema, required ...string) schema {
	all := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		all["required"] = required
	}
	return all
}

// report returns the function of a tool that takes no arguments and returns a report as JSON.
func report(of func(ctx context.Context) (any, error)) func(context.Context, *mcp.CallToolRequest) (
	*mcp.CallToolResult, string, error,
) {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, string, error) {
		if err := decode(req, &struct{}{}); err != nil {
			return nil, "", err
		}
		value, err := of(ctx)
		if err != nil {
			return nil, "", err
		}
		data, err := json.Marshal(value)
		if err != nil {
			return nil, "", err
		}
		if len(data) > maxResult {
			return nil, "", call.Errorf(clichain.ReasonOutputLimit, "",
				"the report has %d bytes, more than %d", len(data), maxResult)
		}
		return &mcp.CallToolResult{
			Content: []mcp.Content{&mcp.TextContent{Text: string(data)}}, StructuredContent: json.RawMessage(data),
		}, "", nil
	}
}

// decode parses the arguments of a call. Unknown arguments are errors, so that no client believes that they apply.
func decode(req *mcp.CallToolRequest, into any) error {
	data := req.Params.Arguments
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, after := d.Token(); !errors.Is(after, io.EOF) {
			err = errors.New("text after the JSON object")
		}
	}
	if err != nil {
		return call.Errorf(clichain.ReasonBadOption, "", "arguments of %s: %v", req.Params.Name, err)
	}
	return nil
}

func namesOf(list []backend) []string {
	names := []string{}
	for _, b := range list {
		names = append(names, b.Name())
	}
	return names
}
