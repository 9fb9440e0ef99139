"""Language models of any provider, through LangChain, which is imported in this package and nowhere else."""
