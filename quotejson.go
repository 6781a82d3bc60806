package clichain

import (
	"encoding/json"
)

// quoteJSON is a text as a JSON string.
func quoteJSON(s string) string {
	quoted, _ := json.Marshal(s) // a string always marshals
	return string(quoted)
}
