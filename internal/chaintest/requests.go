package chaintest

import (
	"encoding/json"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/session"
)

// Cities is a JSON Schema.
const Cities = `{"type":"object","properties":{"city":{"type":"string"},"n":{"type":"integer"}},` +
	`"required":["city"],"additionalProperties":false}`

// System returns a system message.
func System(text string) clichain.Message {
	return clichain.Message{Role: clichain.RoleSystem, Content: text}
}

// Named returns a spec with another name.
func Named(spec clichain.CliSpec, name string) clichain.CliSpec {
	spec.Name = name
	return spec
}

// AskCity returns a request with the schema Cities.
func AskCity() clichain.Request {
	req := clichain.Prompt("Which city?")
	req.Schema = json.RawMessage(Cities)
	return req
}

// AnID is the ID of a session as CLIs make it.
const AnID = "0199abcd-0000-7000-8000-000000000001"

// HandleOf returns a session of a CLI as a Response names it.
func HandleOf(name, id string) string { return session.Handle{Backend: name, ID: id}.String() }
