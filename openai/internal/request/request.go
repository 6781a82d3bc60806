// Package request reads the bodies of requests to OpenAI's API, and refuses what a CLI cannot do.
package request

import (
	"time"

	"github.com/clichain/clichain/call"
)

// ChainModel is the model that leaves the choice of the backend to the chain.
const ChainModel = "clichain"

// Request is a request of either API.
type Request struct {
	call.Request
	Images []Image
	Stream bool
	Usage  bool     // a stream ends with the usage
	Stop   []string // the text ends before the first of these texts

	Instructions *string           // a response repeats them
	Metadata     map[string]string // a response repeats it
	Keep         bool              // a later request may refer to the answer

	ID      string    // of the answer; the handler sets it
	Created time.Time // the handler sets it
}

// Model returns the model of the library's request for a name.
func Model(name string) string {
	if name == ChainModel {
		return ""
	}
	return name
}
