package batch

import "github.com/clichain/clichain/batch/internal/input"

// Format is the file format of an input. If it is empty, the format is guessed as described at Config.Format.
type Format string

// The formats of an input.
const (
	JSONL  Format = input.JSONL  // one JSON object per line
	JSON   Format = input.JSON   // an array of objects or prompts, or consecutive objects
	CSV    Format = input.CSV    // a header, and rows with values separated by commas or semicolons
	TSV    Format = input.TSV    // a header, and rows with values separated by tabs
	Text   Format = input.Text   // one prompt per line
	OpenAI Format = input.OpenAI // one request of OpenAI's batch API per line
)

// Formats lists all formats. Do not modify it.
var Formats = []Format{JSONL, JSON, CSV, TSV, Text, OpenAI}
