using Groundwire.Evidence;

return await EvidenceProgram.RunAsync(args, HttpRetrieval.Connect);
