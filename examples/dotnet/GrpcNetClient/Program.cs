using Groundwire.Evidence;

return await EvidenceProgram.RunAsync(args, GrpcRetrieval.Connect);
