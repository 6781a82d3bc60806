package batch

import "github.com/clichain/clichain/batch/internal/input"

// Format is how an input holds its requests. Empty: the format is guessed, see Config.Format.
type Format string

// The formats of an input.
const (
	JSONL  Format = input.JSONL  // one JSON object a line
	JSON   Format = input.JSON   // an array of objects or prompts, or consecutive objects
	CSV    Format = input.CSV    // a header, and rows of values between commas or semicolons
	TSV    Format = input.TSV    // a header, and rows of values between tabs
	Text   Format = input.Text   // one prompt a line
	OpenAI Format = input.OpenAI // one request of OpenAI's batch API a line
)

// Formats lists all formats. Do not modify it.
var Formats = []Format{JSONL, JSON, CSV, TSV, Text, OpenAI}
