// Evidence for a question, printed as JSON lines: search -> expand -> fetch, or one call of GatherEvidence.
package main

//go:generate protoc --proto_path=../../protos --go_out=. --go_opt=module=groundwire --go-grpc_out=. --go-grpc_opt=module=groundwire groundwire/v1/scope.proto groundwire/v1/retrieval.proto groundwire/v1/evidence.proto groundwire/v1/query.proto

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	groundwirev1 "groundwire/v1"
)

type hitLine struct {
	Type  string  `json:"type"`
	Rank  int32   `json:"rank"`
	Score float64 `json:"score"`
	ID    string  `json:"id"`
}

type edgeLine struct {
	Type     string `json:"type"`
	From     string `json:"from"`
	To       string `json:"to"`
	EdgeType string `json:"edge_type"`
}

type textLine struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	IsSeed     bool   `json:"is_seed"`
	Depth      int32  `json:"depth"`
	Path       string `json:"path"`
	StartLine  int32  `json:"start_line"`
	TokenCount int32  `json:"token_count"`
	Text       string `json:"text"`
}

type passageLine struct {
	Type       string `json:"type"`
	Number     int32  `json:"number"`
	ID         string `json:"id"`
	Citation   string `json:"citation"`
	TokenCount int32  `json:"token_count"`
	Text       string `json:"text"`
}

type namedLine struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Citation string `json:"citation"`
}

type weakLine struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

type doneLine struct {
	Type       string `json:"type"`
	Index      string `json:"index"`
	UsedTokens int64  `json:"used_tokens"`
}

func main() {
	settings := parseOptions()
	client, err := connect(settings)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	defer client.close()
	if settings.call == "evidence" {
		err = printEvidence(context.Background(), client, settings)
	} else {
		err = printActions(context.Background(), client, settings)
	}
	var failure *callFailure
	switch {
	case errors.As(err, &failure):
		print(failure)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func printEvidence(ctx context.Context, client *client, settings options) error {
	evidence, err := call(ctx, client, "GatherEvidence", client.queries.GatherEvidence, &groundwirev1.GatherEvidenceRequest{
		Scope:        &groundwirev1.IndexScope{Repository: settings.repository, Branch: settings.branch},
		Access:       settings.access,
		Filter:       settings.filter,
		Question:     settings.query,
		Phrasings:    settings.phrasings,
		BudgetTokens: settings.budgetTokens,
	})
	if err != nil {
		return err
	}
	for _, passage := range evidence.GetPassages() {
		print(passageLine{
			"text", passage.GetNumber(), passage.GetId(), passage.GetCitation(), passage.GetTokenCount(), textOf(passage),
		})
	}
	for _, node := range evidence.GetNamed() {
		print(namedLine{"named", node.GetId(), node.GetCitation()})
	}
	if weak := evidence.GetWeak(); weak != nil {
		print(weakLine{"weak", weak.GetReason()})
	}
	print(doneLine{"done", evidence.GetIndex(), int64(evidence.GetUsedTokens())})
	return nil
}

// textOf returns the shown lines, with a line of `…` where lines between them are left out.
func textOf(passage *groundwirev1.Passage) string {
	parts := make([]string, len(passage.GetParts()))
	for index, part := range passage.GetParts() {
		parts[index] = part.GetText()
	}
	return strings.Join(parts, "\n…\n")
}

func printActions(ctx context.Context, client *client, settings options) error {
	scope := &groundwirev1.IndexScope{Repository: settings.repository, Branch: settings.branch}
	found, err := call(ctx, client, "SearchNodes", client.retrieval.SearchNodes, &groundwirev1.SearchNodesRequest{
		Scope:      scope,
		Access:     settings.access,
		Filter:     settings.filter,
		SearchType: settings.searchType,
		Query:      settings.query,
		TopK:       settings.topK,
	})
	if err != nil {
		return err
	}
	var seeds []string
	for _, hit := range found.GetHits() {
		print(hitLine{"hit", hit.GetRank(), hit.GetScore(), hit.GetId()})
		seeds = append(seeds, hit.GetId())
	}
	var usedTokens int64
	if len(seeds) > 0 {
		// The next calls read the index version that the search read.
		scope.ActiveIndex = found.GetIndex()
		if usedTokens, err = printNeighbourhood(ctx, client, settings, scope, seeds); err != nil {
			return err
		}
	}
	print(doneLine{"done", found.GetIndex(), usedTokens})
	return nil
}

func printNeighbourhood(
	ctx context.Context, client *client, settings options, scope *groundwirev1.IndexScope, seeds []string,
) (int64, error) {
	graph, err := call(ctx, client, "ExpandDependencyTree", client.retrieval.ExpandDependencyTree,
		&groundwirev1.ExpandDependencyTreeRequest{
			Scope:         scope,
			Access:        settings.access,
			Filter:        settings.filter,
			SeedIds:       seeds,
			MaxDepth:      &settings.maxDepth,
			MaxNodes:      settings.maxNodes,
			EdgeAllowlist: []string{"*"},
		})
	if err != nil {
		return 0, err
	}
	for _, edge := range graph.GetEdges() {
		print(edgeLine{"edge", edge.GetFromId(), edge.GetToId(), edge.GetEdgeType()})
	}
	request := &groundwirev1.FetchNodeTextsRequest{
		Scope:   scope,
		Access:  settings.access,
		Filter:  settings.filter,
		SeedIds: seeds,
		Nodes:   graph.GetNodes(),
		Budget:  &groundwirev1.FetchNodeTextsRequest_BudgetTokens{BudgetTokens: settings.budgetTokens},
	}
	evidence, err := call(ctx, client, "FetchNodeTexts", client.retrieval.FetchNodeTexts, request)
	if err != nil {
		return 0, err
	}
	for _, text := range evidence.GetTexts() {
		location := text.GetLocation()
		print(textLine{
			"text", text.GetId(), text.GetIsSeed(), text.GetDepth(), location.GetPath(), location.GetStartLine(),
			text.GetTokenCount(), text.GetText(),
		})
	}
	return evidence.GetUsedTokens(), nil
}

func print(line any) {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		panic(err)
	}
}
