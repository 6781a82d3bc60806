// Package request makes the request of a command from its flags and stdin, and checks it.
package request

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
)

// Of returns the request of the flags, without the prompt.
func Of(f *param.Values) (req clichain.Request, err error) {
	req = f.Request
	if req.Dir != "" && req.Access == clichain.AccessNone {
		return req, console.Usagef(
			"--dir: needs --access read, write or full: a call without access runs in an empty directory")
	}
	if f.Config.Agent && req.Access == clichain.AccessNone {
		return req, console.Usagef(
			"--agent: needs --access read, write or full: a question without access is no work for an agent")
	}
	if twoOf(f.Continue, req.Session != "", req.Options.SessionID != "") {
		return req, console.Usagef("--session: give one of --session, --continue and --session-id")
	}
	if req.Options.MCPConfig, err = servers(f); err != nil {
		return req, err
	}
	if req.Options.Agents, err = readFlagFile("--agents", f.Agents); err != nil {
		return req, err
	}
	system, err := systemText(f)
	if err != nil {
		return req, err
	}
	if system != "" {
		req.Messages = []clichain.Message{{Role: clichain.RoleSystem, Content: system}}
	}
	req.Schema, err = schema(f.Schema)
	return req, err
}

// twoOf reports whether at least two of the conditions are true.
func twoOf(conditions ...bool) bool {
	holds := slices.DeleteFunc(conditions, func(c bool) bool { return !c })
	return len(holds) >= 2
}

// schema returns the value of --schema: JSON, or the content of a file.
func schema(value string) ([]byte, error) {
	name, data := value, []byte(value)
	if strings.HasPrefix(strings.TrimSpace(value), "{") {
		name = "the value"
	} else {
		var err error
		if data, err = readFlagFile("--schema", value); err != nil || value == "" {
			return nil, err
		}
	}
	if err := json.Unmarshal(data, new(any)); err != nil {
		return nil, console.Usagef("--schema: %s is not valid JSON: %v", name, err)
	}
	return data, nil
}

// servers returns the values of --mcp-config: JSON, or the content of a file.
func servers(f *param.Values) (list []json.RawMessage, err error) {
	for _, value := range f.MCP {
		element, name := []byte(value), "the value" // it may have a secret
		if !strings.HasPrefix(strings.TrimSpace(value), "{") {
			name = value
			if element, err = readFlagFile("--mcp-config", value); err != nil {
				return nil, err
			}
		}
		if err := json.Unmarshal(element, new(map[string]any)); err != nil {
			return nil, console.Usagef("--mcp-config: %s holds no JSON object: %v", name, err)
		}
		list = append(list, element)
	}
	return list, nil
}

// systemText returns the system prompt of the flags.
func systemText(f *param.Values) (string, error) {
	if f.System != "" && f.SystemFile != "" {
		return "", console.Usagef("--system-file: --system is there as well: give one of them")
	}
	text, err := readFlagFile("--system-file", f.SystemFile)
	return f.System + string(text), err
}

// readFlagFile reads the file that a flag names. It returns nil without a name.
func readFlagFile(flag, name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, console.Usagef("%s: %v", flag, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPrompt+1))
	switch {
	case err != nil:
		return nil, console.Usagef("%s: %v", flag, err)
	case len(data) > maxPrompt:
		return nil, console.Usagef("%s: %s is over %d MiB", flag, name, maxPrompt>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, console.Usagef("%s: %s is empty", flag, name)
	}
	return data, nil
}
