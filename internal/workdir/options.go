package workdir

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clichain/clichain/call"
)

// maxMCPFile limits the size of a file in call.Options.MCPConfig, in bytes.
const maxMCPFile = 1 << 20

// ResolveOptions makes the paths of the options absolute, because the CLI may run in another working directory,
// and reads the MCP configuration files.
func ResolveOptions(o call.Options) (call.Options, *call.Error) {
	var err *call.Error
	if o.AddDirs, err = absolute("options.add_dirs", o.AddDirs, true); err != nil {
		return o, err
	}
	if o.Images, err = absolute("options.images", o.Images, false); err != nil {
		return o, err
	}
	servers := make([]json.RawMessage, len(o.MCPConfig))
	for i, element := range o.MCPConfig {
		if servers[i], err = readMCP(fmt.Sprintf("options.mcp_config[%d]", i), element); err != nil {
			return o, err
		}
	}
	o.MCPConfig = servers
	return o, nil
}

// absolute returns the absolute paths of existing regular files, or of directories if dirs is set.
func absolute(field string, names []string, dirs bool) ([]string, *call.Error) {
	what := map[bool]string{true: "directory", false: "regular file"}[dirs]
	found := make([]string, len(names))
	for i, name := range names {
		path, err := filepath.Abs(name)
		var info os.FileInfo
		if err == nil {
			info, err = os.Stat(path)
		}
		switch {
		case err != nil:
			return nil, call.Errorf(call.ReasonBadOption, fmt.Sprintf("%s[%d]", field, i), "%v", err)
		case dirs != info.IsDir() || !dirs && !info.Mode().IsRegular():
			return nil, call.Errorf(call.ReasonBadOption, fmt.Sprintf("%s[%d]", field, i), "%q is not a %s", name, what)
		}
		found[i] = path
	}
	return found, nil
}

// readMCP returns an element of call.Options.MCPConfig as an object with servers. The element is such an object
// or the name of a file.
func readMCP(field string, element json.RawMessage) (json.RawMessage, *call.Error) {
	var name string
	if json.Unmarshal(element, &name) != nil {
		return element, checkMCP(field, "the configuration", element)
	}
	info, err := os.Stat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxMCPFile) {
		return nil, call.Errorf(call.ReasonBadOption, field, "%q is not a regular file of at most %d bytes",
			name, maxMCPFile)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, call.Errorf(call.ReasonBadOption, field, "%v", err)
	}
	return text, checkMCP(field, name, text)
}

// checkMCP returns an error if text is not a list of MCP servers.
func checkMCP(field, name string, text []byte) *call.Error {
	var config struct {
		Servers map[string]map[string]any `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return call.Errorf(call.ReasonBadOption, field, "%s is not an MCP configuration: %v", name, err)
	}
	if len(config.Servers) == 0 {
		return call.Errorf(call.ReasonBadOption, field,
			`%s names no server: write {"mcpServers": {"name": {"command": "..."}}}`, name)
	}
	return nil
}
