// Package input reads the requests of a batch from lines of JSON, JSON arrays, tables, plain text and lines of
// OpenAI's batch API. It detects the format and creates a job for each line.
package input
