"""Writes wines.json, wines.csv and wines.parquet: three wines of scikit-learn's data, one of each grower.

    pip install scikit-learn pandas pyarrow
    python examples/table/make_data.py
"""

from pathlib import Path

from model import COLUMNS
from sklearn.datasets import load_wine

here = Path(__file__).parent
wines = load_wine(as_frame=True).data.loc[[3, 90, 150], COLUMNS].reset_index(drop=True)
(here / "wines.json").write_text(wines.to_json(orient="records") + "\n")
wines.to_csv(here / "wines.csv", index=False)
wines.to_parquet(here / "wines.parquet", index=False)
